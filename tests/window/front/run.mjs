// Tests of the front end in Chromium on the fake host. `node run.mjs [words of a test's name]`
import { browse, serve } from './world.mjs';
import accessibility from './accessibility.mjs';
import answers from './answers.mjs';
import approvals from './approvals.mjs';
import artifacts from './artifacts.mjs';
import compare from './compare.mjs';
import conversation from './conversation.mjs';
import gallery from './gallery.mjs';
import inbox from './inbox.mjs';
import keys from './keys.mjs';
import narrow from './narrow.mjs';
import questions from './questions.mjs';
import replay from './replay.mjs';
import runs from './runs.mjs';
import servers from './servers.mjs';
import settings from './settings.mjs';
import shell from './shell.mjs';
import skills from './skills.mjs';

/** No test may take longer. */
const LIMIT_MS = 60_000;

const wanted = process.argv.slice(2).join(' ');
const [server, browser] = [await serve(), await browse()];
let passed = 0;
const failed = [];

for (const suite of [runs, conversation, inbox, replay, compare, approvals, answers, questions, artifacts, settings, keys, servers, skills, shell, accessibility, narrow, gallery]) {
  for (const [name, test] of Object.entries(suite)) {
    if (!name.includes(wanted)) continue;
    const began = performance.now();
    let timer;
    const limit = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`no end after ${LIMIT_MS} ms`)), LIMIT_MS)));
    try {
      await Promise.race([test({ context: browser.context, address: server.address }), limit]);
      passed += 1;
      console.log(`ok    ${name} (${Math.round(performance.now() - began)} ms)`);
    } catch (error) {
      failed.push(name);
      console.log(`FAIL  ${name}\n${String(error?.stack ?? error).replace(/^/gm, '      ')}`);
    } finally {
      clearTimeout(timer);
      for (const page of browser.context.pages().slice(1)) await page.close();
    }
  }
}
await browser.end();
await server.end();
console.log(`${passed} passed, ${failed.length} failed`);
// A name that matches no test is a mistake, not a success.
process.exit(failed.length === 0 && passed > 0 ? 0 : 1);
