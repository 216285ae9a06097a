import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Two wrappers of bits-ui carry a style attribute in their markup, which the window's policy
 * forbids; a class says the same.
 */
const withoutInlineStyle = {
  name: 'without-inline-style',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    return id.includes('/bits-ui/') && id.endsWith('.svelte') ? code.replaceAll('style="display: contents;"', 'class="contents"') : undefined;
  },
};

/**
 * Two builds of one front end: `ui/dist` speaks to the backend, `out/front` (mode `fake`) to the
 * fake host. The host is chosen here and not at run time, so that no fake ships.
 */
export default defineConfig(({ mode }) => {
  const fake = mode === 'fake' || mode === 'test';
  return {
    plugins: [withoutInlineStyle, svelte()],
    base: './',
    publicDir: fake ? here('./src/host/fake/public') : false,
    clearScreen: false,
    server: { port: 5199, strictPort: true },
    resolve: {
      alias: {
        '@host/connect': here(fake ? './src/host/fake.ts' : './src/host/tauri.ts'),
        $host: here('./src/host'),
        $shared: here('./src/shared'),
        $features: here('./src/features'),
        $app: here('./src/app'),
      },
      ...(mode === 'test' ? { conditions: ['browser'] } : {}),
    },
    build: {
      outDir: fake ? here('../out/front') : here('./dist'),
      emptyOutDir: true,
      target: 'safari16',
      // Fonts stay files: the policy of the window allows them from its own origin only.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 900,
      // The gallery of components is for development and tests: it is never in the window's build.
      ...(fake ? { rolldownOptions: { input: [here('./index.html'), here('./gallery.html')] } } : {}),
    },
    test: {
      environment: 'jsdom',
      include: ['src/**/*.test.ts'],
    },
  };
});
