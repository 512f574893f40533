import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import { createGuard } from '../../../src/api/bearer-authentication.js';
import { docsRoutes } from '../../../src/api/docs.js';
import { answerProblems } from '../../../src/api/problems.js';
import { appOf } from '../../../src/api/route.js';
import { Problem, problemResponse, problemSchema } from '../../../src/contract/problem.js';
import { problemTypeList, problemTypes } from '../../../src/contract/problem-types.js';

const slugs = problemTypeList.map(({ slug }) => slug);
const docs = docsRoutes({ links: { api: 'http://127.0.0.1:8080' } }, []);
const guard = createGuard({ of: async () => undefined });
const app = answerProblems(new Hono(), assert.ifError).route('/', appOf(docs, guard));

describe('the table of problem types', () => {
  it('has every type that src names, and no other', () => {
    const source = fileURLToPath(new URL('../../../../src/', import.meta.url));
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const used = files.flatMap((file) => {
      const text = readFileSync(join(source, file), 'utf8');
      const made = [...text.matchAll(/new (?:Problem\(|Rejection\([^,]+,)\s*'([^']*)'/g)].map(([, slug = '']) => slug);
      assert.equal(
        made.length,
        text.match(/new (Problem|Rejection)\(/g)?.length ?? 0,
        `${file}: a problem whose type this test cannot read`,
      );
      const classes = [...text.matchAll(/extends (?:Problem|Rejection) \{.*?super\(\s*(?:'([^']*)'|slug,)/gs)];
      assert.equal(classes.length, text.match(/extends (Problem|Rejection)\b/g)?.length ?? 0, `${file}: a class of problems`);
      return [...made, ...classes.flatMap(([, slug]) => slug ?? [])];
    });
    assert.deepEqual([...new Set(used)].sort(), [...slugs].sort());
  });

  it('is in the order of the statuses', () => {
    const statuses = problemTypeList.map(({ status }) => status);
    assert.deepEqual(
      statuses,
      [...statuses].sort((a, b) => a - b),
    );
  });

  it('has distinct titles', () => assert.equal(new Set(problemTypeList.map(({ title }) => title)).size, slugs.length));

  for (const { slug, status, title, meaning, whatToDo, example } of problemTypeList) {
    it(`explains ${slug} and what to do`, () => {
      assert.match(slug, /^[a-z]+(-[a-z]+)*$/);
      assert.ok(status >= 400 && status < 600);
      assert.match(title, /^[A-Z].*[^.]$/);
      for (const text of [meaning, whatToDo]) assert.match(text, /^[A-Z`].{20,}[.]$/su);
      assert.ok(example.detail.length > 10);
    });
  }
});

describe('a problem', () => {
  it('has the status, title and type of its slug', async () => {
    const problem = new Problem('already-ended', 'It is done.', { errors: [{ pointer: '/0', detail: 'x' }] });
    const response = problemResponse(problem);
    assert.equal(response.status, 409);
    assert.deepEqual(problemSchema.parse(await response.json()), {
      type: '/problems/already-ended',
      title: problemTypes['already-ended'].title,
      status: 409,
      detail: 'It is done.',
      errors: [{ pointer: '/0', detail: 'x' }],
    });
  });
});

describe('the page of a problem type', () => {
  for (const { slug, status, title } of problemTypeList) {
    it(`is at /problems/${slug}`, async () => {
      const response = await app.request(`/problems/${slug}`);
      assert.equal(response.status, 200);
      assert.match(response.headers.get('Content-Type') ?? '', /^text\/html/);
      const text = await response.text();
      for (const part of [`<h1>${title}</h1>`, `Status ${status}`, 'What it means', 'What to do', `/problems/${slug}`])
        assert.ok(text.includes(part), part);
      assert.doesNotMatch(text, /`|undefined|\[object |<script/);
    });
  }

  for (const slug of ['no-such-type', 'constructor', '__proto__', '%3Cscript%3E']) {
    it(`is not at /problems/${slug}`, async () => {
      const response = await app.request(`/problems/${slug}`);
      assert.equal(response.status, 404);
      assert.equal(problemSchema.parse(await response.json()).type, '/problems/not-found');
    });
  }
});
