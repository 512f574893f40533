/** Writes a rule as YAML. Comments and quotation marks of an existing file stay, except where the rule changed. */

import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import { fieldNames } from '../../chain/request.js';
import type { Contents } from '../../contract/rule-contents.js';
import { anyObject, contentsFields, pairOf, type RuleFile } from './file.js';

type WrittenRule = { relayId: string; name: string; version: number | undefined; contents: Contents };

/** The order of an action's fields in a new file. */
const order = ['action', 'comment', 'platformAssignmentId', 'delayInSeconds', 'if', ...fieldNames(undefined)];
const placeOf = (field: string) => order.indexOf(field) + (order.includes(field) ? 0 : order.length);

/** The text of a rule's file. Parts of `before` that stay the same keep their comments and quotation marks. */
export function ruleText({ contents, ...about }: WrittenRule, schemaUrl: string, before?: Document): string {
  const { variables, actions } = contents;
  const document = before?.clone() ?? new Document({});
  if (!before) document.commentBefore = ` yaml-language-server: $schema=${schemaUrl}`;
  const shown = Object.entries(variables).map(([name, { path, missing, default: text }]) => {
    const isLeftOut = missing === 'hold' && !document.hasIn(['variables', name, 'missing']);
    return [name, { path, ...(!isLeftOut && { missing }), ...(text !== undefined && { default: text }) }] as const;
  });
  return withFields(document, {
    ...about,
    ...contents,
    variables: shown.length > 0 ? Object.fromEntries(shown) : undefined,
    actions: actions.map((action) => Object.fromEntries(Object.entries(action).sort(([a], [b]) => placeOf(a) - placeOf(b)))),
  });
}

/** Writes the file again with another rule id or version, such as the id of a new rule. The contents stay unchanged. */
export function withAbout({ document, ...file }: Omit<RuleFile, 'contents'>, { relayId = file.relayId, version = file.version }) {
  const contents = Object.fromEntries(contentsFields.map((field) => [field, document.get(field, true)]));
  return withFields(document.clone(), { relayId, name: file.name, version, ...contents });
}

function withFields(document: Document, fields: object): string {
  const key = isMap(document.contents) ? document.contents.items[0]?.key : undefined;
  if (isScalar(key) && key.value !== 'relayId' && key.commentBefore) {
    document.commentBefore = key.commentBefore; // The comment at the top stays at the top.
    key.commentBefore = undefined;
  }
  document.contents = merged(document, document.contents, { ...fields, cases: document.get('cases', true) });
  const variables = document.get('variables', true);
  for (const { value } of isMap(variables) ? variables.items : [])
    if (isMap(value) && !value.range) value.flow = !String(value.get('default')).includes('\n');
  return document.toString({ lineWidth: 0 });
}

/** Returns a node with the value. Keeps each part of the old node that already has the right value. */
function merged(document: Document, node: unknown, value: unknown): Node {
  if (isNode(value)) return value;
  if (isNode(node) && isDeepStrictEqual(node.toJS(document), value)) return node;
  if (isScalar(node) && typeof value === 'string') {
    node.value = value;
    return node;
  }
  if (isSeq(node) && Array.isArray(value)) {
    node.items = nodesFor(document, node.items, value).map((item, place) => merged(document, item, value[place]));
    return node;
  }
  const record = anyObject.safeParse(value).data;
  if (!isMap(node) || !record) return document.createNode(value);
  const fields = Object.entries(record).filter(([, inner]) => inner !== undefined);
  node.items = node.items.filter(({ key }) => isScalar(key) && record[String(key.value)] !== undefined);
  let place = -1;
  for (const [name, inner] of fields) {
    const pair = pairOf(node, name);
    if (pair) pair.value = merged(document, pair.value, inner);
    else node.items.splice(place + 1, 0, document.createPair(name, inner));
    place = pair ? node.items.indexOf(pair) : place + 1;
  }
  return node;
}

/** Finds an old item for each new value: an equal item, or else the first unused action with the same name. */
function nodesFor(document: Document, items: readonly unknown[], values: readonly unknown[]): unknown[] {
  const free = items.filter(isNode);
  const take = (fits: (item: Node) => boolean) => {
    const place = free.findIndex(fits);
    return place < 0 ? undefined : free.splice(place, 1)[0];
  };
  const same = values.map((value) => take((item) => isDeepStrictEqual(item.toJS(document), value)));
  const nameOf = (value: unknown) => anyObject.safeParse(value).data?.action;
  return values.map((value, place) => same[place] ?? take((item) => isMap(item) && item.get('action') === nameOf(value)));
}
