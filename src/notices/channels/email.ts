/** Notices by e-mail, one message to one contact. */

import type { Mailer } from '../../connectors/mail/mail.js';
import type { NoticeChannel } from './channel.js';

export function createEmailChannel({ mailer, from, to }: { mailer: Mailer; from: string; to: string }): NoticeChannel {
  return {
    contact: to,
    deliver: ({ subject, text, html }, noticeId, call) =>
      mailer.send({ from, to, subject, text, html, messageId: noticeId }, call),
  };
}
