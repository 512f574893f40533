/** Describes the mistake in an unreadable body: the place, the error, and how to correct the template of the webhook. */

import { placeIn } from '../chain/json-place.js';
import { mostBytes } from '../chain/request.js';
import type { BreakKind } from './repair.js';
import { maxDepth } from './strict-json.js';

export type FlawKind =
  | BreakKind
  | 'field-twice'
  | 'empty'
  | 'not-actions' // JSON, but not a list of objects
  | 'not-an-object' // JSON, but no event
  | 'too-large'
  | 'charset'
  | 'content-encoding';

/** `offset`: the place in the text. Without `offset`, the whole text is wrong. `error`: words that replace the standard words. */
export type Flaw = { kind: FlawKind; offset?: number | undefined; field?: string | undefined; error?: string | undefined };

const inTemplate =
  'Change the template of the webhook. Inside each text, the platform must write \\" for each quotation mark and \\\\ for each backslash. ' +
  'If the platform cannot do that, remove from the template all fields in which people write their own text. Fields with numbers and times can stay.';

const words: Record<FlawKind, { says(field: string, at: string): string; advice: string }> = {
  'quotation-mark': {
    says: (field, at) => `the text of ${field} has a quotation mark directly before ${at}; this mark ends the text too early`,
    advice: inTemplate,
  },
  backslash: { says: (field, at) => `there is a backslash before ${at} in the text of ${field}`, advice: inTemplate },
  'single-quotes': {
    says: () => 'there is a single quotation mark (\'); JSON needs a double quotation mark (")',
    advice: 'Write names and texts between double quotation marks (") in the template of the webhook.',
  },
  comment: {
    says: () => 'a comment begins here; JSON has no comments',
    advice: 'Remove the comment from the template of the webhook; the field `comment` of an action is for such notes.',
  },
  'cut-off': {
    says: (field) => `the text ends too early, at ${field}`,
    advice: 'Check that the template is complete, and that the platform does not cut off long requests.',
  },
  unquoted: {
    says: (field, at) => `a quotation mark, a comma or a colon is missing before ${at}, near ${field}`,
    advice:
      'In the template of the webhook, put names and values between double quotation marks, also values from the event: "${name}". Check the commas and colons, too.',
  },
  'no-value': {
    says: (field) => `${field} has no value`,
    advice:
      'Put values from the event between quotation marks in the template of the webhook, so that an empty value becomes "".',
  },
  bracket: {
    says: (_field, at) => `the bracket ${at} does not belong here`,
    advice: 'Compare opening and closing brackets in the template of the webhook.',
  },
  'after-end': {
    says: (_field, at) => `the JSON has ended, and ${at} follows`,
    advice: 'Check the template of the webhook: everything must be inside one array or one object.',
  },
  depth: {
    says: () => `the body is nested deeper than ${maxDepth} levels`,
    advice: 'Send fewer levels of arrays and objects. Check the template of the webhook.',
  },
  character: {
    says: (field) => `${field} contains a name or character that cannot be stored`,
    advice: 'Check the values from the event that the template of the webhook uses there.',
  },
  'field-twice': {
    says: (field) => `the field ${field} occurs twice in one object; a pasted value may have added the second one`,
    advice: inTemplate,
  },
  empty: { says: () => 'the body is empty', advice: 'Put JSON into the template of the webhook.' },
  'not-actions': {
    says: () => 'the body is JSON, but it is no list of actions',
    advice: 'Send an array, also for a single action: [{"action": …}].',
  },
  'not-an-object': {
    says: () => 'the body is JSON, but it is no object',
    advice: 'Send one event as a JSON object: {"status": …}. Send a list of actions to /relay.',
  },
  'too-large': {
    says: () => `the body is larger than ${mostBytes / 1024} KiB`,
    advice: 'Shorten the values that the template pastes. In the HTML of an e-mail, link to images instead of embedding them.',
  },
  charset: {
    says: () => 'the charset of the body is unknown: it is neither UTF-8 nor the declared charset',
    advice: 'Set up the platform so that it sends UTF-8.',
  },
  'content-encoding': {
    says: () => 'the compression of the body is unknown',
    advice: 'Send the body uncompressed, or with Content-Encoding gzip, deflate or br.',
  },
};

/** Describes a flaw in words: `line 1, column 205: the text of …`. @param text - the body with masked tokens. */
export function flawWords({ kind, offset, field, error }: Flaw, text: string): string {
  const shown = text.slice(offset ?? 0);
  const about = field === undefined || field === '' ? 'a field' : `\`${field.slice(0, 40)}\``;
  const behind = kind === 'quotation-mark' || kind === 'backslash' ? shown.slice(1) : shown;
  const [, word, other] = /^[\s"]*(?:([^\s"\\,:{}[\]]{1,24})|(.{1,8}))/su.exec(behind.slice(0, 200)) ?? [];
  const at = kind === 'bracket' ? shown.charAt(0) : (word ?? other?.trim());
  const says = storable(error ? `the body ${error}` : words[kind].says(about, at ? `\`${at.replaceAll('`', '’')}\`` : 'the end'));
  if (offset === undefined) return says;
  const { line, column } = placeIn(text, offset);
  return `line ${line}, column ${column}: ${says}`;
}

/** Replaces NUL characters and single surrogates, because PostgreSQL refuses such characters. */
export const storable = (text: string): string => Buffer.from(text.replaceAll('\0', '\ufffd')).toString();
export const flawAdvice = ({ kind }: Flaw): string => words[kind].advice;
