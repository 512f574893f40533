/** What the words of every notice consist of, and what they share. */

import { type Chain, chainUrl } from '../chain/chain.js';

/** What a notice does not carry and its reader needs. */
export interface NoticeContext {
  companyName: string;
  ruleName: string;
  /** Address of the API. */
  apiUrl: string;
  /** A chain in Temporal's Web UI. */
  webUi(chain: Pick<Chain, 'companyId' | 'chainId'>, runId?: string): string | undefined;
  /** For the `temporal` command. */
  namespace: string;
}

/** What differs from one notice to another. */
export interface Words {
  headline: string;
  /** What the headline is about. */
  about?: string;
  /** A rule whose name is shown. */
  relayId?: string;
  sentence: string;
  /** Before and after the section `Where`. */
  sections: Section[];
  end?: Section[];
  /** In the section `Where`, before and after the time, and with the time. */
  where?: string[];
  links?: Link[];
  when?: string;
  after?: string;
  /** `type` in the JSON, where it is not the kind of the notice. */
  type?: string;
  /** What the JSON says beyond what all notices say. */
  facts: object;
}

export interface Section {
  title?: string;
  /** A command to type is shown as such. */
  lines: (string | Link)[];
}

/** `Temporal Web UI: https://…`, which can be followed. */
export interface Link {
  label: string;
  url: string;
}

/** A `relay` command, with the address of the API where it would not look there by itself. */
export function relay(words: string, { apiUrl }: NoticeContext): string {
  return `npx relay ${words}${apiUrl === 'http://127.0.0.1:8080' ? '' : ` --url ${apiUrl}`}`;
}

export function chainLink(chain: Pick<Chain, 'companyId' | 'chainId'>, { apiUrl }: NoticeContext): Link {
  return { label: 'Chain resource, with a token', url: chainUrl(apiUrl, chain) };
}

/** Whether a line is to be typed into a terminal. */
export function isCommand(line: string): boolean {
  return /^(npx relay|temporal) /.test(line);
}
