/** Sending one e-mail to one recipient. */

import type { Call } from '../call.js';

export interface Message {
  /** One address, display name allowed: `Ada Lovelace <ada@example.com>`. */
  to: string;
  subject: string;
  text: string;
  html?: string;
  /** Without angle brackets; the same for every attempt at the same message. */
  messageId: string;
  from: string;
  replyTo?: string;
}

export interface Mailer {
  /**
   * Hands the message to the mail server.
   * @throws ConnectorError; `unknown` when the body had left and the connection broke before the server's answer.
   */
  send(message: Message, call: Call): Promise<void>;
}
