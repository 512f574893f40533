/** A connector for WorkMarket, and its simulator, over a real socket. */

import { type Call, ConnectorError } from '../../src/connectors/call.js';
import { createHttpClient, type HttpClient } from '../../src/connectors/http.js';
import { workmarket } from '../../src/connectors/kinds/workmarket.js';
import type { Order, Platform } from '../../src/connectors/platforms.js';
import { Memory } from '../../src/connectors/session.js';
import { serveVendor } from '../../src/sandbox/vendors/vendor.js';
import { createWorkmarket as createVendor, workmarketCredentials } from '../../src/sandbox/vendors/workmarket.js';

export const http = createHttpClient({ allowPrivateNetworks: true });
export const settings = { kind: 'workmarket' as const, ...workmarketCredentials };
export const draft = '6029116324';

export type Doubts = Record<string, boolean>;
export type Kept = { sending: boolean; before?: { status: string; workers?: number }; sentTo: string[]; told?: boolean };

/** A simulator whose queue is empty at the next request, and a connector for it. */
export async function connected(doubts: Doubts = {}, client: HttpClient = http) {
  const vendor = createVendor({ doubts });
  vendor.state.queueMs = 0;
  const { url, close } = await serveVendor(vendor);
  const platform = workmarket({ ...settings, baseUrl: url }, client, new Memory());
  const requests = (part: string) => vendor.state.calls.filter(({ path }) => path.includes(part));
  const fail = (fault: object) => {
    vendor.faults.now = vendor.faults.schema.parse(fault);
  };
  return { vendor, platform, close, requests, sends: () => requests('/send'), fail };
}

/** A send, with the data that the connector keeps between attempts. */
export function effect(platform: Platform, order: Partial<Order> = {}, assignmentId = draft) {
  const run = { kept: undefined as Kept | undefined };
  const keep = async (data: unknown) => {
    run.kept = JSON.parse(JSON.stringify(data)) as Kept;
  };
  /**
   * On a slow machine, the connector may refuse to begin a send. Then nothing was sent, and the next attempt has twice as much
   * time.
   */
  const send = async (more: Partial<Call> = {}): ReturnType<Platform['sendAssignment']> => {
    const call = { timeoutMs: 20_000, keep, kept: run.kept, ...more };
    try {
      return await platform.sendAssignment(assignmentId, { groupIds: ['11'], ...order }, call);
    } catch (error) {
      const isSlow = error instanceof ConnectorError && / is too slow: .* so nothing was sent$/.test(error.message);
      if (!isSlow || call.timeoutMs > 60_000) throw error;
      return send({ ...more, timeoutMs: 2 * call.timeoutMs });
    }
  };
  return Object.assign(run, { send });
}
