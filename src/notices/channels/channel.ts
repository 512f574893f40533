/** Failure reports on their way to one contact. */

import type { Call } from '../../connectors/call.js';

/** A notice in every form that a channel may need. */
export interface RenderedNotice {
  subject: string;
  text: string;
  html: string;
  /** What a webhook gets. */
  json: unknown;
}

/** The way to one contact. */
export interface NoticeChannel {
  /** Whom it reaches, without secrets, one for each contact: `ada@example.com`, `webhook 1f0a93c2 at https://chat.example`. */
  readonly contact: string;

  /**
   * Delivers the notice once.
   * @param noticeId the same for every attempt at this notice to this contact: the e-mail's Message-ID, without angle brackets,
   *   and the webhook's key where the call has none
   * @throws ConnectorError
   */
  deliver(notice: RenderedNotice, noticeId: string, call: Call): Promise<void>;
}
