import '$shared/base.css';
import { connect } from '@host/connect';
import { mount } from 'svelte';
import { App } from '$app/app.svelte';
import Shell from '$app/Shell.svelte';
import { applyRememberedTheme } from '$app/theme';

applyRememberedTheme();

const target = document.getElementById('app');
if (target) mount(Shell, { target, props: { app: new App(connect()) } });
