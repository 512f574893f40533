/** Templates of requests. With them, the kind `http` can call a system that does not have the relay's own API. */

import { z } from 'zod';
import { parseCondition, pathPattern } from '../chain/condition.js';

const headerName = /^(?!(?:proxy-)?authorization$|cookie$)[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const header = z.string().regex(headerName, 'must be the name of a header without a secret: a secret belongs in auth');
const comparison = z.string().refine((text) => parseCondition(text).ok, 'must be one comparison, such as ok==true');
const property = z.string().regex(pathPattern, 'must be the path of a property, such as data.status.name');
const template = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH']),
  path: z.string().regex(/^\/(?!\/)[!-~]*$/, 'must begin with one /, and have no spaces'),
  headers: z.record(header, z.string()).optional(),
  body: z.unknown().optional().describe('JSON. The text `{name}` alone becomes the value, and `{name:number}` becomes a number.'),
  success: comparison.optional().describe('If the JSON of a 2xx answer does not meet this comparison, the request has failed.'),
});
export type RequestTemplate = z.infer<typeof template>;

/** Finds the name in `{ticketId}` or `{ticketId:number}`. Ignores the braces of JSON objects, because they contain quotes. */
const placeholdersIn = (text: string) => Array.from(text.matchAll(/\{([^{}"]+?)(?::number)?\}/g), ([, name = '']) => name);
const listed = (names: string[]) => names.map((name) => `{${name}}`).join(', ');

/** @param required - placeholders that path or body must have. @param optional - the body may have them, and they may lack values */
function request(methods: string[], required: string[], optional: string[] = []) {
  return template.optional().check(({ value, issues }) => {
    if (!value) return;
    const { method, path, body = null, success = '' } = value;
    const report = (at: string, message: string) => issues.push({ code: 'custom', input: value, path: [at], message });
    const inPath = placeholdersIn(path);
    const inBody = placeholdersIn(JSON.stringify(body));
    const check = (at: string, used: string[], known: string[]) => {
      const unknown = used.filter((name) => !known.includes(name));
      if (unknown.length > 0) report(at, `can have ${listed(known)}, but not ${listed(unknown)}`);
    };
    check('path', inPath, required);
    check('success', placeholdersIn(success), required);
    check('body', inBody, [...required, ...optional]);
    const absent = required.filter((name) => !inPath.includes(name) && !inBody.includes(name));
    if (absent.length > 0) report('path', `must have ${listed(absent)} here or in the body`);
    if (!methods.includes(method)) report('method', `must be ${methods.join(' or ')}`);
  });
}

const writing = ['POST', 'PUT', 'PATCH'];

export const platformTemplates = z.strictObject({
  assignment: request(['GET', 'POST'], ['assignmentId']).describe('Reads an assignment, without effect.'),
  send: request(writing, ['assignmentId'], ['groupIds', 'radiusMiles']).describe('Sends an assignment.'),
  status: property.optional().describe('The path of the status in the answer to `assignment`. Conditions see it as `status`.'),
});

/** Matches regular expressions that are valid and quick: without groups, and with two quantifiers at most. */
const atom = String.raw`(?:\\d|[\w-]|\[(?:[01]-9|A-Z|a-z|\w)+\])`;
const quick = new RegExp(String.raw`^${atom}*(?:${atom}(?:[+*?]|\{\d{1,3}\})${atom}*){0,2}$`);
const idPattern = 'must be a regular expression with only characters, \\d, classes such as [A-Z0-9] and at most two quantifiers';
const needsRead = 'is required for an update with POST: such a request can create a ticket if there is none';
export const ticketingTemplates = z
  .strictObject({
    read: request(['GET'], ['ticketId']).describe('Reads a ticket. It must succeed before each `update`.'),
    update: request(writing, ['ticketId', 'field', 'value']).describe('Sets a field of a ticket.'),
    ticketIdPattern: z.string().regex(quick, idPattern).optional().describe('A regular expression for the whole ticket id.'),
  })
  .refine(({ read, update }) => update?.method !== 'POST' || read, { path: ['read'], error: needsRead });
