/** The channels for the contacts in `notify` of a rule or a company: e-mail and webhook. */

import { Webhook } from 'standardwebhooks';
import { cutShort } from '../chain/text.js';
import type { Call } from '../connectors/call.js';
import type { Connectors } from '../connectors/connectors.js';
import type { HttpClient } from '../connectors/http.js';
import type { Company } from '../contract/company.js';
import { type Notify, type SetByCompany, webhookContact } from '../contract/notify.js';
import { isCommand, type RenderedNotice } from './frame.js';

export interface NoticeChannel {
  kind: 'mail' | 'webhook';
  /** The contact as `contactsOf` writes it. */
  contact: string;
  /** Whether notices on this channel have links for decisions without a company key. */
  decides: boolean;
  /** For e-mail, the idempotency key is also the Message-ID. @throws ConnectorError */
  deliver(notice: RenderedNotice, call: Call & { idempotencyKey: string }): Promise<void>;
}

type Ways = Pick<Connectors, 'noticeMailOf' | 'httpOf'>;

/** @param whose - the company or rule that `notify` belongs to. */
export function channelsOf({ noticeMailOf, httpOf }: Ways, company: Company, notify: Notify, whose: SetByCompany = company) {
  const { mailer, from } = noticeMailOf(company);
  const { emails = [], webhookUrl } = notify;
  const channels = emails.map((to): NoticeChannel => {
    const deliver: NoticeChannel['deliver'] = ({ subject, text, html }, call) =>
      mailer.send({ from, to, subject, text, html, messageId: call.idempotencyKey }, call);
    return { kind: 'mail', contact: to, decides: true, deliver };
  });
  if (webhookUrl !== undefined) channels.push(webhookChannel(new URL(webhookUrl), notify, httpOf(whose, 'notify')));
  return channels;
}

/** Sends JSON or a Slack message. The receiver recognizes a repeated message by `webhook-id`. */
function webhookChannel(url: URL, notify: Notify, http: HttpClient): NoticeChannel {
  const { webhookSecret, webhookFormat, linksInWebhooks = false } = notify;
  const format = webhookFormat ?? (url.hostname === 'hooks.slack.com' ? 'slack' : 'relay');
  return {
    kind: 'webhook',
    contact: webhookContact(url),
    decides: linksInWebhooks,
    async deliver(notice, call) {
      const body = format === 'slack' ? slackMessage(notice) : notice.json;
      const headers = headersOf(call.idempotencyKey, body, webhookSecret);
      await http.request({
        method: 'POST',
        url,
        headers,
        body,
        call,
        what: 'the webhook settings for notices (notify.webhookUrl)',
        secretPath: true,
      });
    },
  };
}

/** The headers of Standard Webhooks. Signs the same JSON text that the HTTP client sends. */
function headersOf(key: string, body: unknown, secret: string | undefined): Record<string, string> {
  // The signature joins its parts with dots, so the id must not contain a dot.
  const [id = ''] = key.split('@');
  if (secret === undefined) return { 'webhook-id': id };
  const now = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, JSON.stringify(body)),
  };
}

// Slack's limits: characters of a header, characters of a section, blocks of a message.
const headerLength = 150;
const sectionLength = 3000;
const mostBlocks = 50;
/** Escaping can make a text five times as long, so a piece of a line must be shorter than a section. */
const pieceLength = 500;

/** A message for Slack's incoming webhooks, with one section per paragraph. Slack's notifications show the outer `text`. */
export function slackMessage({ subject, text }: Pick<RenderedNotice, 'subject' | 'text'>) {
  const wholeLines = new RegExp(`[^\\n].{0,${sectionLength - 1}}(?=\\n|$)`, 'gs');
  const paragraphs = text.trim().split('\n\n');
  const sections = paragraphs.flatMap((lines) => lines.split('\n').flatMap(linesOf).join('\n').match(wholeLines) ?? []);
  const room = mostBlocks - 2; // two blocks are for the header and for `…`
  const shown = sections.length > room ? [...sections.slice(0, room), '…'] : sections;
  return {
    text: escaped(cutShort(subject, pieceLength)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cutShort(subject, headerLength) } },
      ...shown.map((section) => ({ type: 'section', text: { type: 'mrkdwn', text: section } })),
    ],
  };
}

/** Splits a line into pieces that fit in a section. Formats titles (lines without indent) as bold, and commands as code. */
function linesOf(line: string): string[] {
  const words = line.trim();
  const pieces = words.match(new RegExp(`.{1,${pieceLength}}`, 'gsu')) ?? [];
  if (pieces.length === 1 && isCommand(words) && !words.includes('`')) return [`\`${escaped(words)}\``];
  if (pieces.length === 1 && line === words && words.endsWith(':')) return [`*${escaped(words)}*`];
  return pieces.map(escaped);
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
