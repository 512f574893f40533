import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig, StartError } from '../../../src/service/config.js';

describe('RELAY_ALLOW_PRIVATE_NETWORKS', () => {
  const read = (text: string) => readConfig({ RELAY_ALLOW_PRIVATE_NETWORKS: text }).RELAY_ALLOW_PRIVATE_NETWORKS;

  for (const [text, allowed] of [
    ['', undefined],
    ['true', true],
    ['false', false],
    ['tickets.internal', ['tickets.internal']],
    [
      'Tickets.Internal, 10.1.2.3,10.1.0.0/16,fd12::1,fd12::/16',
      ['tickets.internal', '10.1.2.3', '10.1.0.0/16', 'fd12::1', 'fd12::/16'],
    ],
    ['localhost', ['localhost']],
  ] as const)
    it(`may be ${JSON.stringify(text)}`, () => assert.deepEqual(read(text), allowed));

  for (const [text, entry] of [
    ['10.0.0', 1],
    ['10.0.0.300', 1],
    ['a.internal,10.0.0.0/33', 2],
    ['fd12::/129', 1],
    ['10.0.0.0/8/8', 1],
    ['10.0.0.0/', 1],
    ['http://tickets.internal', 1],
    ['tickets.internal:8080', 1],
    ['*.internal', 1],
    ['a.internal,,b.internal', 2],
    ['fe80::1%lo', 1],
  ] as const)
    it(`cannot be ${JSON.stringify(text)}, and the error names the entry`, () =>
      assert.throws(
        () => read(text),
        new StartError(
          `RELAY_ALLOW_PRIVATE_NETWORKS must be true, false, or host names, IP addresses and networks with commas between them: entry ${entry} is none of these`,
        ),
      ));
});

describe('the variables of OpenID Connect', () => {
  const groups = '{"dispatchers": {"companyId": "acme", "role": "steer"}}';

  it('are a list of domains, and the roles of groups', () => {
    const read = readConfig({ RELAY_OIDC_DOMAINS: 'Acme.example, acme.org', RELAY_OIDC_GROUPS: groups });
    assert.deepEqual(read.RELAY_OIDC_DOMAINS, ['acme.example', 'acme.org']);
    assert.deepEqual(read.RELAY_OIDC_GROUPS, [{ group: 'dispatchers', companyId: 'acme', role: 'steer' }]);
  });

  for (const [name, text, said] of [
    ['RELAY_OIDC_ISSUER', 'http://login.example', /^RELAY_OIDC_ISSUER must be an https URL/],
    ['RELAY_OIDC_ISSUER', 'login', /^RELAY_OIDC_ISSUER must be an http or https URL/],
    ['RELAY_OIDC_GROUPS', 'dispatchers', /^RELAY_OIDC_GROUPS must be JSON such as {"dispatchers"/],
    ['RELAY_OIDC_GROUPS', '["dispatchers"]', /^RELAY_OIDC_GROUPS must be JSON such as {"dispatchers"/],
    ['RELAY_OIDC_GROUPS', groups.replace('steer', 'owner'), /^RELAY_OIDC_GROUPS\.dispatchers\.role /],
  ] as const)
    it(`cannot be ${name}=${text}`, () =>
      assert.throws(() => readConfig({ [name]: text }), { name: 'StartError', message: said }));
});
