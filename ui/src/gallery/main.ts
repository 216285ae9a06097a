import '$shared/base.css';
import { mount } from 'svelte';
import { App } from '$app/app.svelte';
import { applyRememberedTheme } from '$app/theme';
import { FakeHost } from '$host/fake';
import Gallery from './Gallery.svelte';
import { galleryScene } from './specimens';

applyRememberedTheme();

const target = document.getElementById('app');
if (target) mount(Gallery, { target, props: { app: new App(new FakeHost(galleryScene())) } });
