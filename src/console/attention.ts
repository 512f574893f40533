/** Whether somebody looks at the page. Whoever is not there asks for nothing: a session ends when it is not used. */

const unattendedMs = 30 * 60_000;

let attendedAt = Date.now();
for (const event of ['pointerdown', 'keydown', 'wheel', 'focus'])
  addEventListener(event, () => (attendedAt = Date.now()), { capture: true, passive: true });

export const isLookedAt = () => document.visibilityState === 'visible' && Date.now() - attendedAt < unattendedMs;
