/** Whether somebody uses the page. An unused page sends no requests, so that its session can expire. */

const unattendedMs = 30 * 60_000;

let attendedAt = Date.now();
for (const event of ['pointerdown', 'keydown', 'wheel', 'focus'])
  addEventListener(event, () => (attendedAt = Date.now()), { capture: true, passive: true });

export const isAttended = () => document.visibilityState === 'visible' && Date.now() - attendedAt < unattendedMs;
