import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { findTemporal, type Search } from '../../../src/sandbox/temporal-binary.js';
import { StartError } from '../../../src/service/config.js';

const works = '#!/bin/sh\necho "temporal version 9.9.9 (Server 1.29.1, UI 2.42.1)"\n';

describe('the search for the Temporal program', () => {
  const root = mkdtempSync(join(tmpdir(), 'relay-find-'));
  after(() => rmSync(root, { recursive: true }));
  let home = '';
  let said: string[] = [];
  let count = 0;

  beforeEach(() => {
    home = join(root, `${count++}`);
    said = [];
    mkdirSync(home);
  });

  const file = (path: string, content: string) => {
    const whole = join(home, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, content);
    chmodSync(whole, 0o755);
    return whole;
  };
  /** Searches in a temporary home folder. @param download - a script that runs in place of the real download. */
  const find = (download: string, change: Partial<Search> = {}) =>
    findTemporal({
      dataDir: join(home, 'data'),
      say: (line) => said.push(line),
      environment: { PATH: `${join(home, 'path')}:/bin:/usr/bin`, HOME: home, XDG_CACHE_HOME: join(home, 'xdg') },
      download: { script: file('download.mjs', download), patienceMs: 3000 },
      ...change,
    });
  const unreachable = 'console.error("cannot reach the host"); process.exitCode = 1;';
  const go = (script: string) => file('path/go', `#!/bin/sh\n${script}\n`);

  it('uses the program on PATH', async () => {
    const program = file('path/temporal', works);
    file('xdg/relay/temporal-1', works);
    assert.equal(await find(unreachable), program);
  });

  it('uses a cached program if the program on PATH does not run, or is another program', async () => {
    file('path/temporal', '#!/bin/sh\nexit 1\n');
    file('data/cache/temporal-1', '#!/bin/sh\necho "temporal version 1"\n');
    const cached = file('xdg/relay/temporal-1.5.1', works);
    assert.equal(await find(unreachable), cached);
    assert.deepEqual(said, []);
  });

  it('uses a program from the data directory', async () => {
    const cached = file('data/cache/temporal-1.5.1', works);
    assert.equal(await find(unreachable), cached);
  });

  it('downloads it, and keeps it for the next time', async () => {
    const download = `
      import { renameSync, writeFileSync, appendFileSync } from 'node:fs';
      const file = process.argv[2] + '/temporal-sdk-1';
      writeFileSync(file + '.downloading', '', { mode: 0o755 });
      await new Promise((done) => setTimeout(done, 600));
      appendFileSync(file + '.downloading', ${JSON.stringify(works)});
      renameSync(file + '.downloading', file);`;
    const cached = join(home, 'xdg/relay/temporal-sdk-1');
    assert.equal(await find(download), cached);
    assert.deepEqual(said, ['downloading the Temporal dev server, once']);
    assert.deepEqual(readdirSync(join(home, 'xdg/relay')), ['temporal-sdk-1']);
    assert.equal(await find(unreachable), cached);
  });

  const built = 'temporal-1.5.1-sqlite-1.51.0';
  const build = `
    [ "$1 $7" = "build github.com/temporalio/cli/cmd/temporal" ] || exit 9
    [ "$(grep require go.mod)" = "require github.com/temporalio/cli v1.5.1\nrequire modernc.org/sqlite v1.51.0" ] || exit 8
    printf '%s' '${works}' > $6; chmod +x $6`;

  for (const [what, download] of [
    ['is refused', unreachable],
    ['gets no answer', 'setInterval(() => {}, 1000);'],
    [
      'stops half-way',
      "import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2] + '/temporal-x.downloading', 'half'); setInterval(() => {}, 1000);",
    ],
    [
      'delivers another file',
      "import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2] + '/temporal-x', 'rubbish', { mode: 0o755 });",
    ],
  ] as const) {
    it(`builds it with Go if the download ${what}`, async () => {
      go(build);
      const program = await find(download, { download: { script: file('download.mjs', download), patienceMs: 500 } });
      assert.equal(program, join(home, 'xdg/relay', built));
      assert.equal(said.at(-1), 'building the Temporal dev server with Go: about 3 minutes, once');
      assert.deepEqual(readdirSync(join(home, 'xdg/relay')), [built]);
    });
  }

  it('allows two builds at once', async () => {
    go(`sleep 0.3; ${build}`);
    assert.equal(new Set(await Promise.all([find(unreachable), find(unreachable)])).size, 1);
    assert.deepEqual(readdirSync(join(home, 'xdg/relay')), [built]);
  });

  it('uses the data directory if the cache folder is not writable', async () => {
    go(build);
    file('xdg', 'a file');
    assert.equal(await find(unreachable), join(home, 'data/cache', built));
  });

  it('says in one line what it tried and what to do, if nothing works', async () => {
    go('echo "go: downloading x" >&2; echo "go: https://me:secret@mirror.example/x: 403 Forbidden" >&2; exit 1');
    const message =
      'no Temporal server ("temporal" is not on PATH; no copy is cached; download: cannot reach the host; build with ' +
      'Go: go: https://***@mirror.example/x: 403 Forbidden): ' +
      'install the Temporal CLI (docs.temporal.io/cli) or Go 1.25, or set TEMPORAL_ADDRESS to a running server';
    await assert.rejects(find(unreachable), new StartError(message));
    const environment = { PATH: '/nowhere', HOME: home, XDG_CACHE_HOME: join(home, 'xdg') };
    await assert.rejects(find(unreachable, { environment }), /build with Go: Go is not installed\)/);
    assert.deepEqual(readdirSync(join(home, 'xdg/relay')), []);
  });

  it('can be aborted, and removes leftovers', async () => {
    go('sleep 1000');
    const left = dirname(file('xdg/relay/work-old/half', ''));
    const fresh = dirname(file('xdg/relay/work-new/half', ''));
    utimesSync(left, 1, 1);
    const abort = new AbortController();
    const say = (line: string) => line.startsWith('building') && abort.abort();
    await assert.rejects(find(unreachable, { signal: abort.signal, say }), { name: 'AbortError' });
    assert.deepEqual(readdirSync(dirname(left)), ['work-new']);
    assert.ok(fresh);
  });

  it("continues after the SDK's own download", async () => {
    go(build);
    const cache = join(home, 'xdg/relay');
    const { download: _, ...search } = {
      dataDir: join(home, 'data'),
      say: (line: string) => said.push(line),
      download: undefined,
    };
    const environment = {
      ...process.env,
      PATH: `${join(home, 'path')}:/bin:/usr/bin`,
      HOME: home,
      XDG_CACHE_HOME: join(home, 'xdg'),
    };
    assert.equal(dirname(await findTemporal({ ...search, environment })), cache);
  });
});
