/** What the words of every notice consist of, and what they share. */

import { type Chain, chainUrl, type Links } from '../chain/chain.js';
import { oneLine } from '../chain/text.js';

/** What a notice does not carry and its reader needs. */
export interface NoticeContext {
  companyName: string;
  ruleName: string;
  links: Links;
  /** For the `temporal` command. */
  namespace: string;
}

/** What differs from one notice to another. */
export interface Words {
  headline: string;
  /** What the headline is about. */
  about?: string;
  sentence: string;
  /** By title; those without lines are not shown. A command to type is shown as such. */
  sections: Record<string, (string | Link)[]>;
  /** `type` in the JSON, where it is not the kind of the notice. */
  type?: string;
  /** What the JSON says beyond what all notices say. */
  facts: object;
}

/** `Temporal Web UI: https://…`, which can be followed. */
export interface Link {
  label: string;
  url: string;
}

/** Whom a notice concerns: the first lines of its section `Where`. */
export function concerned(
  { companyId, relayId }: { companyId: string; relayId?: string },
  { companyName, ruleName }: NoticeContext,
): string[] {
  const company = `Company: ${oneLine(companyName)} (${companyId})`;
  return relayId === undefined ? [company] : [company, `Rule: ${oneLine(ruleName)} (${relayId})`];
}

export function chainLink(chain: Pick<Chain, 'companyId' | 'chainId'>, { links }: NoticeContext): Link {
  return { label: 'Chain resource, with a token', url: chainUrl(links.api, chain) };
}

/** A `relay` command, with the address of the API where it would not look there by itself. */
export function relay(words: string, { links }: NoticeContext): string {
  return `npx relay ${words}${links.api === 'http://127.0.0.1:8080' ? '' : ` --url ${links.api}`}`;
}

/** Whether a line is to be typed into a terminal. */
export function isCommand(line: string): boolean {
  return /^(npx relay|temporal) /.test(line);
}
