/** Limits how long an activity waits for the relay's own database. */

/** @throws Error if there is no answer in time */
export function inTime<Result>(asked: Promise<Result>, milliseconds: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const tooLate = setTimeout(() => reject(new Error('no answer in time')), milliseconds);
    void asked.then(resolve, reject).finally(() => clearTimeout(tooLate));
  });
}
