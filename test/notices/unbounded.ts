/** For tests that ignore the limits. Every notice is sent alone, and every contact has confirmed. */

export const unbounded = {
  store: {
    notices: { turn: async () => ({ told: 'alone' }), delivered: async () => {} },
    contacts: { unconfirmed: async () => [] },
    usage: { add: () => {} },
  },
  inFlight: { run: <Result>(_companyId: string, _what: string, work: () => Promise<Result>) => work() },
  noticeBudget: { notices: 20, seconds: 600 },
};
