/** The channels to the contacts that a rule or a company names: from the settings of `notify`, and nowhere else. */

import { hash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { cutShort } from '../chain/text.js';
import type { Call } from '../connectors/call.js';
import type { Connectors } from '../connectors/connectors.js';
import type { Company } from '../contract/company.js';
import type { Notify } from '../contract/notify.js';
import { isCommand, type RenderedNotice } from './frame.js';

export interface NoticeChannel {
  kind: 'mail' | 'webhook';
  /** Without secrets, one for each contact: `ada@example.com`, `webhook 1f0a93c2 at https://chat.example`. */
  contact: string;
  /** Under the call's key, which is also the e-mail's Message-ID. @throws ConnectorError */
  deliver(notice: RenderedNotice, call: Call & { idempotencyKey: string }): Promise<void>;
}

/** Whom `notify` names, as `NoticeChannel` has them. */
export function contactsOf({ emails = [], webhookUrl }: Notify): string[] {
  return webhookUrl === undefined ? emails : [...emails, webhookContact(new URL(webhookUrl))];
}

/** The path is a secret, yet two webhooks of one host are two contacts. */
function webhookContact({ href, origin }: URL): string {
  return `webhook ${hash('sha256', href).slice(0, 8)} at ${origin}`;
}

type Ways = Pick<Connectors, 'noticeMailOf' | 'http'>;

export function channelsOf({ noticeMailOf, http }: Ways, company: Company, notify: Notify): NoticeChannel[] {
  const { mailer, from } = noticeMailOf(company);
  const { emails = [], webhookUrl } = notify;
  const channels = emails.map(
    (to): NoticeChannel => ({
      kind: 'mail',
      contact: to,
      deliver: ({ subject, text, html }, call) =>
        mailer.send({ from, to, subject, text, html, messageId: call.idempotencyKey }, call),
    }),
  );
  if (webhookUrl !== undefined) channels.push(webhookChannel(new URL(webhookUrl), notify, http));
  return channels;
}

/** Facts as JSON, or a message for Slack, under an id by which the receiver knows repetitions. */
function webhookChannel(url: URL, { webhookSecret, webhookFormat }: Notify, http: Ways['http']): NoticeChannel {
  const format = webhookFormat ?? (url.hostname === 'hooks.slack.com' ? 'slack' : 'relay');
  return {
    kind: 'webhook',
    contact: webhookContact(url),
    async deliver(notice, call) {
      const body = format === 'slack' ? slackMessage(notice) : notice.json;
      await http.request({
        method: 'POST',
        url,
        headers: headersOf(call.idempotencyKey, body, webhookSecret),
        body,
        call,
        what: 'the webhookUrl in notify',
        secretPath: true,
      });
    },
  };
}

/** Those of Standard Webhooks. Signed is the body as the HTTP client writes it. */
function headersOf(key: string, body: unknown, secret: string | undefined): Record<string, string> {
  // The parts of what is signed are joined by dots: the id is to have none.
  const [id = ''] = key.split('@');
  if (secret === undefined) return { 'webhook-id': id };
  const now = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, JSON.stringify(body)),
  };
}

// Slack's limits: characters of a header and of a section, and blocks of a message.
const headerLength = 150;
const sectionLength = 3000;
const mostBlocks = 50;
/** Escaping makes of one character up to five. */
const pieceLength = 500;

/** As Slack's incoming webhooks take it: its paragraphs as sections. The `text` outside them is what notifications show. */
export function slackMessage({ subject, text }: Pick<RenderedNotice, 'subject' | 'text'>) {
  const wholeLines = new RegExp(`[^\\n].{0,${sectionLength - 1}}(?=\\n|$)`, 'gs');
  const paragraphs = text.trim().split('\n\n');
  const sections = paragraphs.flatMap((lines) => lines.split('\n').flatMap(linesOf).join('\n').match(wholeLines) ?? []);
  const room = mostBlocks - 2; // For the header, and to say that something is missing.
  const shown = sections.length > room ? [...sections.slice(0, room), '…'] : sections;
  return {
    text: escaped(cutShort(subject, pieceLength)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cutShort(subject, headerLength) } },
      ...shown.map((section) => ({ type: 'section', text: { type: 'mrkdwn', text: section } })),
    ],
  };
}

/** A line of a notice in pieces that a section can hold, titles and commands marked: what is not indented is a title. */
function linesOf(line: string): string[] {
  const words = line.trim();
  const pieces = words.match(new RegExp(`.{1,${pieceLength}}`, 'gsu')) ?? [];
  if (pieces.length === 1 && isCommand(words) && !words.includes('`')) return [`\`${escaped(words)}\``];
  if (pieces.length === 1 && line === words && words.endsWith(':')) return [`*${escaped(words)}*`];
  return pieces.map(escaped);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
