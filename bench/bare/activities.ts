/** The two effects of the bare side: it sends an assignment, or an e-mail. */

import { activityInfo } from '@temporalio/activity';
import { createTransport } from 'nodemailer';

const { PLATFORM_URL, SMTP_URL } = process.env;
const mail = createTransport(SMTP_URL);

export async function sendAssignment(assignmentId: string, groupId: string): Promise<void> {
  const { workflowExecution, activityId } = activityInfo();
  const answer = await fetch(`${PLATFORM_URL}/assignments/${encodeURIComponent(assignmentId)}/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `${workflowExecution?.workflowId}/${activityId}` },
    body: JSON.stringify({ groupIds: [groupId] }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`the platform answered ${answer.status}`);
  await answer.json();
}

export async function sendEmail(email: { emails: string[]; subject: string; body: string; bodyHtml: string }): Promise<void> {
  await mail.sendMail({
    from: 'bare@bench.example',
    to: email.emails,
    subject: email.subject,
    text: email.body,
    html: email.bodyHtml,
  });
}
