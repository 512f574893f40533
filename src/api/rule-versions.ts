/** `/admin/companies/{companyId}/rules/{relayId}`: the draft, the versions, the shadow and the door of a rule with contents. */

import type { Context } from 'hono';
import { chainWorkflowId } from '../chain/chain.js';
import { type Issue, issuesOf } from '../chain/request.js';
import { fieldsOf } from '../chain/sent.js';
import { rotationRequest } from '../contract/credential.js';
import { Problem } from '../contract/problem.js';
import type { Contents, Draft, DraftResponse } from '../contract/rule-contents.js';
import {
  contentsDiffSchema,
  contentsSchema,
  diffQuery,
  draftResponse,
  fromListsRequest,
  fromListsResponse,
  goBackRequest,
  mostContentsOfCompany,
  publishRequest,
  saveDraftRequest,
  shadowRequest,
  versionSchema,
  versionsResponse,
  wholeVersionSchema,
} from '../contract/rule-contents.js';
import { doorRequest, doorSchema, type EventDoor, eventTokensResponse } from '../contract/rule-event.js';
import { redact } from '../contract/secrets.js';
import { diffContents } from '../rules/compare.js';
import { checkContents } from '../rules/contents.js';
import { contentsFromLists } from '../rules/from-lists.js';
import type { Publication } from '../store/versions.js';
import { readAccepted } from '../temporal/mend.js';
import { readSettings } from './companies.js';
import { numberCursor, pageQuery, readTexts } from './input.js';
import { found, foundRule, limitReached, notFound } from './problems.js';
import { type ApiOptions, ofRule, type Route, route } from './route.js';

const published = {
  answers: {
    201: ['The new version.', versionSchema, { Location: 'The path of the version.' }],
    200: ['These contents are already published: nothing was changed.', versionSchema],
  },
  problems: ['invalid-body', 'unpublishable', 'limit-reached'],
} as const;

const mostChains = 20; // if the request has no chain ids, the relay compares this many chains

export function ruleVersionRoutes({ store, client, links }: Pick<ApiOptions, 'store' | 'client' | 'links'>): Route[] {
  const { versions, rules, tokens } = store;
  const readVersion = async (companyId: string, relayId: string, version: string) => {
    const stored = versionPattern.test(version) ? await versions.get(companyId, relayId, Number(version)) : undefined;
    return found(stored, `version ${version} of rule ${relayId} of company ${companyId}`);
  };
  const readDraft = async (companyId: string, relayId: string) =>
    foundRule(await versions.draft(companyId, relayId), companyId, relayId);
  const check = async (companyId: string, relayId: string, contents: unknown) => {
    const { company } = found(await store.settings.of(companyId), `company ${companyId}`);
    return checkContents(contents, { relayId, platform: company.platform });
  };
  const shown = async (companyId: string, relayId: string, draft: Draft): Promise<DraftResponse> => {
    if (draft.contents === undefined) return { ...draft, problems: [], warnings: [] };
    const checked = await check(companyId, relayId, draft.contents);
    return { ...draft, problems: checked.ok ? [] : checked.problems, warnings: checked.warnings };
  };
  const publishable = async (companyId: string, relayId: string, contents: unknown): Promise<Contents> => {
    if (contents === undefined) throw unpublishable([{ pointer: '', detail: 'has no draft' }]);
    const checked = await check(companyId, relayId, contents);
    if (!checked.ok) throw unpublishable(checked.problems);
    return checked.contents;
  };
  /** Answers 201 with the new version, or 200 if its contents were published before. @throws Problem limit-reached */
  const answer = (c: Context, companyId: string, relayId: string, made: Publication | 'too large') => {
    if (made === 'too large') throw tooLarge(companyId);
    const { version, created } = made;
    const path = `/admin/companies/${companyId}/rules/${relayId}/versions/${version.version}`;
    return created ? c.json(version, 201, { Location: path }) : c.json(version);
  };
  return [
    route.company(`GET ${ofRule}/draft`, 'getDraft', 'Read the draft of a rule', {
      use: 'reads',
      answers: { 200: ['The draft with its mistakes. Before the first save, its revision is 0.', draftResponse] },
      async handle(c, { companyId, relayId }) {
        return c.json(await shown(companyId, relayId, await readDraft(companyId, relayId)));
      },
    }),
    route.author(`PUT ${ofRule}/draft`, 'saveDraft', 'Save the draft of a rule', {
      description:
        'Saves contents with mistakes, too: the answer lists the mistakes. `revision` is the revision that you edited. If ' +
        'somebody else has saved the draft after you read it, nothing changes, and `conflict` in the answer has the stored draft and your contents.',
      use: 'reads', // A high limit is necessary, because the composer saves while a person types.
      rawBody: saveDraftRequest,
      answers: { 200: ['The saved draft, with its new revision and its mistakes.', draftResponse] },
      problems: ['invalid-body', 'draft-changed'],
      async handle(c, { companyId, relayId, actor }) {
        const asked = await readTexts(c, saveDraftRequest);
        const saved = foundRule(await versions.saveDraft(companyId, relayId, asked, actor), companyId, relayId);
        if (!saved.saved) throw draftChanged(relayId, asked, saved.draft);
        return c.json(await shown(companyId, relayId, saved.draft));
      },
    }),
    route.author(`POST ${ofRule}/draft/from-lists`, 'makeContents', 'Make the contents of a rule from lists of actions', {
      description:
        'Compares past chains of the rule that came as lists. Leaves out chains that came as events. Values that differ between these chains become variables. To keep ' +
        'the contents, save them as the draft.',
      use: 'lists',
      body: fromListsRequest,
      answers: { 200: ['The contents, and the values of each variable.', fromListsResponse] },
      problems: ['temporal-unavailable'],
      async handle(c, { companyId, relayId, body: { chainIds } }) {
        foundRule(await store.rules.get(companyId, relayId), companyId, relayId);
        const last = async () => (await store.chains.list(companyId, { relayId }, { limit: mostChains })).items;
        const ids = chainIds.length > 0 ? chainIds : (await last()).map(({ chainId }) => chainId);
        const requests = await Promise.all(
          ids.map(async (chainId) => {
            const actions = await readAccepted(client, { workflowId: chainWorkflowId({ companyId, chainId }) });
            const own = actions.filter((action) => action.relayId === relayId);
            if (own.length === 0 && chainIds.length > 0) throw notFound(`chain ${chainId} of rule ${relayId}`);
            // Actions with `unfilled` did not come in a list. The relay made them from an event.
            return own.filter(({ unfilled }) => unfilled === undefined).map(fieldsOf);
          }),
        );
        const lists = requests.filter(({ length }) => length > 0);
        if (lists.length === 0) throw notFound(`chain of rule ${relayId} that came as a list`);
        return c.json(contentsFromLists(lists));
      },
    }),
    route.author(`POST ${ofRule}/publish`, 'publishRule', 'Publish the draft of a rule', {
      description:
        'Makes an unchangeable version from the draft. New events run this version. Other processes may run the old version for ' +
        'up to 2 seconds. Open chains keep their version. To see the effect of the draft first, use `POST …/try`.',
      rawBody: publishRequest,
      ...published,
      problems: [...published.problems, 'draft-changed'],
      async handle(c, { companyId, relayId, actor }) {
        const asked = await readTexts(c, publishRequest);
        const draft = await readDraft(companyId, relayId);
        if (draft.revision !== asked.revision) throw draftChanged(relayId, asked, draft);
        const contents = await publishable(companyId, relayId, draft.contents);
        const made = foundRule(await versions.publish(companyId, relayId, { ...asked, contents }, actor), companyId, relayId);
        if (typeof made === 'object' && 'conflict' in made) throw draftChanged(relayId, asked, made.conflict);
        return answer(c, companyId, relayId, made);
      },
    }),
    route.company(`GET ${ofRule}/versions`, 'listVersions', 'List the versions of a rule', {
      use: 'reads',
      query: pageQuery(numberCursor),
      answers: { 200: ['The versions without their contents, the newest first.', versionsResponse] },
      async handle(c, { companyId, relayId, query }) {
        const { published, shadow } = foundRule(await rules.get(companyId, relayId), companyId, relayId);
        const { items, nextCursor } = await versions.list(companyId, relayId, query);
        return c.json({ versions: items, published, shadow, nextCursor });
      },
    }),
    route.company(`GET ${ofRule}/versions/:version`, 'getVersion', 'Read a version with its contents', {
      use: 'reads',
      answers: { 200: ['The version.', wholeVersionSchema] },
      handle: async (c, { companyId, relayId, version }) => c.json(await readVersion(companyId, relayId, version)),
    }),
    route.author(`POST ${ofRule}/versions/:version/publish`, 'goBack', 'Publish an old version again', {
      description: 'Publishes the contents of the old version as a new version. A draft without edits gets these contents, too.',
      rawBody: goBackRequest,
      ...published,
      async handle(c, { companyId, relayId, version, actor }) {
        const { note } = await readTexts(c, goBackRequest);
        const old = await readVersion(companyId, relayId, version);
        await publishable(companyId, relayId, old.contents);
        const made = await versions.goBack(companyId, relayId, old.version, note, actor);
        return answer(c, companyId, relayId, foundRule(made, companyId, relayId));
      },
    }),
    route.company(`GET ${ofRule}/versions/:version/diff`, 'compareVersions', 'Compare two versions, action by action', {
      use: 'reads',
      query: diffQuery,
      answers: { 200: ['The differences, from the version in the path to the other version.', contentsDiffSchema] },
      problems: ['unpublishable'],
      async handle(c, { companyId, relayId, version, query }) {
        const before = await readVersion(companyId, relayId, version);
        return c.json(diffContents(before.contents, await other(companyId, relayId, query.with)));
      },
    }),
    route.author(`PUT ${ofRule}/shadow`, 'setShadow', 'Try a version on each new event, without effect', {
      description: 'The relay counts what this version would have done with each new event. `null` ends the trial.',
      body: shadowRequest,
      answers: { 200: ['The version that is tried.', shadowRequest] },
      problems: ['limit-reached'],
      async handle(c, { companyId, relayId, actor, body: { version } }) {
        const set = await versions.setShadow(companyId, relayId, version, actor);
        if (set === 'too large') throw tooLarge(companyId);
        found(set, `rule ${relayId} of company ${companyId}, or this rule has no version ${version}`);
        return c.json({ version });
      },
    }),
    route.company(`GET ${ofRule}/door`, 'getDoor', 'Read how events reach a rule', {
      use: 'reads',
      answers: { 200: ['The settings. The key of the signature is shown as `***`.', doorSchema] },
      async handle(c, { companyId, relayId }) {
        return c.json(redact(doorSchema, foundRule(await rules.getDoor(companyId, relayId), companyId, relayId)));
      },
    }),
    route.author(`PUT ${ofRule}/door`, 'setDoor', 'Change how events reach a rule', {
      description:
        'A missing setting gets its default. But a missing `signature`, or a key `***`, stays the same. `null` removes the ' +
        'signature.',
      rawBody: doorRequest,
      answers: { 200: ['The changed settings.', doorSchema] },
      problems: ['invalid-body'],
      async handle(c, { companyId, relayId, actor }) {
        const read = await readSettings(c, doorRequest);
        const change = (stored: EventDoor) => {
          const { signature, ...settings } = read(stored);
          return { ...settings, signature: signature ?? undefined };
        };
        const door = await rules.setDoor(companyId, relayId, change, actor);
        return c.json(redact(doorSchema, foundRule(door, companyId, relayId)));
      },
    }),
    route.author(`POST ${ofRule}/event-tokens`, 'rotateEventToken', 'Rotate the token for events', {
      description:
        'Creates a token that works only for events, as the last part of the address. Only this answer shows the token. The ' +
        'older event tokens expire after `graceSeconds`, by default immediately. With `null`, their expiry does not change.',
      body: rotationRequest,
      answers: { 201: ['The new token, and the address that contains it.', eventTokensResponse] },
      async handle(c, { companyId, relayId, actor, body: { graceSeconds } }) {
        const made = foundRule(await tokens.rotate(companyId, relayId, graceSeconds, actor, 'event'), companyId, relayId);
        const { tokenId, relayAccessToken: eventToken } = made;
        const url = `${links.api}/co/${companyId}/events/${relayId}/${eventToken}`;
        return c.json({ tokenId, eventToken, url }, 201, { 'Cache-Control': 'no-store' });
      },
    }),
  ];

  async function other(companyId: string, relayId: string, name: string): Promise<Contents> {
    if (name === 'draft') {
      const { data, error } = contentsSchema.safeParse((await readDraft(companyId, relayId)).contents);
      if (error) throw unpublishable(issuesOf(error));
      return data;
    }
    const { published } = foundRule(await rules.get(companyId, relayId), companyId, relayId);
    const version = name === 'published' ? String(published ?? 'published') : name;
    return (await readVersion(companyId, relayId, version)).contents;
  }
}

const tooLarge = (companyId: string) => limitReached(companyId, `published rules of ${mostContentsOfCompany / 1024 / 1024} MiB`);
const versionPattern = /^[1-9]\d{0,8}$/;

function unpublishable(errors: readonly Issue[]): Problem {
  const detail = errors.map((error) => `${error.pointer === '' ? 'The rule' : error.pointer} ${error.detail}`).join('; ');
  return new Problem('unpublishable', `Nothing was changed. ${detail}`, { errors });
}

function draftChanged(relayId: string, asked: { revision: number; contents?: Record<string, unknown> }, stored: Draft): Problem {
  const { revision, updatedBy, updatedAt, contents } = stored;
  const who = updatedBy === undefined ? '' : `: ${updatedBy} saved it at ${updatedAt}`;
  const [before, after] = [contentsSchema.safeParse(contents).data, contentsSchema.safeParse(asked.contents).data];
  return new Problem('draft-changed', `The draft of rule ${relayId} has revision ${revision}, not ${asked.revision}${who}.`, {
    conflict: { stored, yours: asked.contents, diff: before && after && diffContents(before, after) },
  });
}
