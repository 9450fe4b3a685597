import { globSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { type Network, network, resolveHost } from '../../../shared/webhooks/http/network.ts'
import { type PostRequest, post, sender } from '../../../shared/webhooks/http/sender.ts'
import { newWebhookUrl, strict, targetOf } from '../../../shared/webhooks/http/target.ts'
import { providerId } from '../../support/examples.ts'
import { refused } from '../../support/refused.ts'
import { connectionsTo, ended, fakeResolver, networkOf, receiver, requestTo } from './servers.ts'

const unreached = (cause: string, address: string | null = null) => ({
  outcome: { kind: 'unreached', cause },
  address,
})
const notSent = unreached('address')
const accepted = { outcome: { kind: 'answered', code: 200, body: 'thanks' }, address: '127.0.0.1' }

/** Applies the address rules to any URL, because tests cannot use port 443. */
const anyUrl = { ...strict, urlOf: (text: string) => text }
const sendByName = sender(anyUrl, { bodySeconds: 1 })
/** Also treats this machine as public, like a provider's server. */
const hereIsPublic = { ...anyUrl, isAllowed: (address: string) => address === '127.0.0.1' }
const sendHere = sender(hereIsPublic, { bodySeconds: 1 })
/** Resolves every name to this machine. */
const here = async () => ['127.0.0.1']
const nearby = networkOf({ resolve: here })

const named = (url: string, host = 'provider.example'): string => url.replace('127.0.0.1', host)
const listener = () => receiver((_, response) => response.end('thanks'))
const sent = (url: string, changes: Partial<Network> = {}, request: Partial<PostRequest> = {}) =>
  post(requestTo(url, request), networkOf(changes))

test.each<[string, (url: string) => string]>([
  ['of this machine, outside a local sandbox', (url) => url],
  ['with TLS', (url) => url.replace('http:', 'https:')],
  ['mapped into IPv6', (url) => named(url, '[::ffff:127.0.0.1]')],
  ['by a name, without TLS', (url) => named(url)],
])('an attempt to a URL %s is refused without a connection', async (_, urlOf) => {
  const url = await listener()
  expect(await sent(urlOf(url), { resolve: here })).toEqual(notSent)
  expect(connectionsTo(url)).toEqual([])
})

const privateAddresses = ['127.0.0.1', '8.8.8.8,127.0.0.1', '::ffff:127.0.0.1', '0.0.0.0']
test.each(privateAddresses)('a name at %s is refused without a connection', async (addresses) => {
  const url = await listener()
  const network = networkOf({ resolve: async () => addresses.split(',') })
  expect(await sendByName(requestTo(named(url)), network)).toEqual(notSent)
  expect(connectionsTo(url)).toEqual([])
})

test('a local sandbox accepts http://127.0.0.1, except for a host of this service', async () => {
  const url = await listener()
  const ownHosts = [new URL(url).host]
  expect(await sent(url, { localPeers: ['127.0.0.1'], ownHosts })).toEqual(notSent)
  expect(connectionsTo(url)).toEqual([])
  expect(await sent(url, { localPeers: ['127.0.0.1'] })).toEqual(accepted)
})

test('an attempt resolves the name once, connects to that address, and the next one checks it again', async () => {
  const url = await listener()
  const { lookups, resolve } = fakeResolver(['127.0.0.1'], ['10.0.0.1'])
  const request = requestTo(named(url, 'no-such-host.invalid'))
  expect(await sendHere(request, networkOf({ resolve }))).toEqual(accepted)
  expect(lookups).toEqual(['no-such-host.invalid'])
  expect(await sendHere(request, networkOf({ resolve }))).toEqual(notSent)
  expect(lookups).toEqual(['no-such-host.invalid', 'no-such-host.invalid'])
  expect(connectionsTo(url)).toHaveLength(1)
})

test('an attempt falls back to the next address if one is unreachable', async () => {
  const anyAddress = sender({ ...anyUrl, isAllowed: () => true }, { bodySeconds: 1 })
  const network = networkOf({ resolve: async () => ['::1', '127.0.0.1'] })
  expect(await anyAddress(requestTo(named(await listener())), network)).toEqual(accepted)
})

test('an attempt sends no bytes to a peer with an unchecked address: 0.0.0.0 is 127.0.0.1', async () => {
  const url = await listener()
  const result = await sendByName(requestTo(named(url, '0.0.0.0')), networkOf())
  expect(result).toEqual(unreached('address', '127.0.0.1'))
  const [connection] = connectionsTo(url)
  await ended(connection)
  expect(connection?.bytesRead).toBe(0)
})

test('all sequential attempts of a provider share a connection; concurrent ones, other names and other providers do not', async () => {
  const url = await listener()
  const attempt = (host?: string, request: Partial<PostRequest> = {}) =>
    sendHere(requestTo(named(url, host), request), nearby)
  for (let n = 0; n < 3; n += 1) await attempt()
  expect(connectionsTo(url)).toHaveLength(1)
  await attempt('other.example')
  expect(connectionsTo(url)).toHaveLength(2)
  await Promise.all([attempt(), attempt(), attempt()])
  expect(connectionsTo(url)).toHaveLength(4)
  await attempt(undefined, { provider: providerId('other') })
  expect(connectionsTo(url)).toHaveLength(5)
})

const never = () => Promise.withResolvers<string[]>().promise

test.each([
  ['fails', 'dns', () => Promise.reject(new Error('no')), {}],
  ['finds nothing on this machine', 'dns', resolveHost, {}],
  ['exceeds the connection timeout', 'connect_timeout', never, { connectionTimeoutSeconds: 0.1 }],
  ['exceeds the timeout', 'connect_timeout', never, { timeoutSeconds: 0.1 }],
])(
  'an attempt to a name whose lookup %s ends with %s',
  async (_, cause, resolve, request) => {
    const url = `https://${'x'.repeat(64)}.example/`
    expect(await sent(url, { resolve }, request)).toEqual(unreached(cause))
  },
  4_000,
)

test('a lookup returns the addresses of a host as texts', async () => {
  expect(await resolveHost('127.0.0.1')).toEqual(['127.0.0.1'])
})

test('a deployment uses the network settings of the environment', () => {
  vi.stubEnv('OWN_HOSTS', ' API.service.example, bank.service.example:8443,')
  const ownHosts = ['api.service.example', 'bank.service.example:8443']
  expect(network).toMatchObject({ resolve: resolveHost, localPeers: [], ownHosts })
  vi.stubEnv('OWN_HOSTS', undefined)
  expect(network.ownHosts).toEqual([])
})

test('the only sender of a deployment is strict', () => {
  const senders = globSync('{functions,shared}/**/*.ts').flatMap(
    (file) => readFileSync(file, 'utf8').match(/\bsender\(.*/g) ?? [],
  )
  expect(senders).toEqual(['sender(strict, { bodySeconds: 1 })'])
})

const NAMED = 'https://provider.example/hooks'

const check = (text: string, changes: Partial<Network> = {}) =>
  targetOf(text, { network: networkOf(changes), rules: strict, signal: AbortSignal.timeout(5_000) })

const rejection = async (target: ReturnType<typeof check>) => {
  const result = await target
  if (!('cause' in result)) throw new Error(`Not rejected: ${result.url}`)
  const { url } = refused(result.refusal).details as { url: string[] }
  return [result.cause, ...url]
}

test.each([[['8.8.8.8']], [['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111']]])(
  'a name with the public addresses %j is resolved once',
  async (addresses) => {
    const { lookups, resolve } = fakeResolver(addresses, ['127.0.0.1'])
    expect(await check(NAMED, { resolve })).toEqual({ url: new URL(NAMED), addresses })
    expect(lookups).toEqual(['provider.example'])
  },
)

const privateLists =
  '127.0.0.1|10.0.0.1|169.254.169.254|192.168.1.1|0.0.0.0|::1|fd00:ec2::254|fe80::1%eth0|' +
  '::ffff:8.8.8.8|64:ff9b::8.8.8.8|8.8.8.8,10.0.0.1|10.0.0.1,8.8.8.8|8.8.8.8,1.1.1.1,::1|' +
  '2606:4700:4700::1111,127.0.0.1|alias.provider.example|'

test.each(privateLists.split('|'))('a name with the addresses %s is rejected', async (list) => {
  for (const localPeers of [[], ['127.0.0.1']]) {
    const target = check(NAMED, { localPeers, resolve: async () => list.split(',') })
    expect(await rejection(target)).toEqual(['address', 'must resolve to public addresses only'])
  }
})

test.each([
  ['https://8.8.8.8/hooks', '8.8.8.8'],
  ['https://134744072/hooks', '8.8.8.8'],
  ['https://[2606:4700:4700:0::1111]/hooks', '2606:4700:4700::1111'],
])('the URL %s has the public address %s without a lookup', async (text, address) => {
  const { lookups, resolve } = fakeResolver()
  expect(await check(text, { resolve })).toMatchObject({ addresses: [address] })
  expect(lookups).toEqual([])
})

test('a new webhook needs an IPv4 address, except on this machine', async () => {
  const urlFor = async (text: string, addresses: string[]) => {
    const network = networkOf({ localPeers: ['localhost'], resolve: async () => addresses })
    const url = await newWebhookUrl(text, network, AbortSignal.timeout(5_000))
    return typeof url === 'string' ? url : refused(url).details
  }
  expect(await urlFor(NAMED, ['2606:4700:4700::1111', '8.8.8.8'])).toBe(NAMED)
  expect(await urlFor('http://localhost/', ['::1'])).toBe('http://localhost/')
  const refusal = { url: ['must have an IPv4 address'] }
  expect(await urlFor(NAMED, ['2606:4700:4700::1111'])).toEqual(refusal)
  expect(await urlFor('https://[2606:4700:4700::1111]/', [])).toEqual(refusal)
})

test('only a host that a local sandbox names may be private, and only without TLS', async () => {
  const network = { localPeers: ['peer.example'], resolve: async () => ['10.0.0.2'] }
  const url = new URL('http://peer.example:8080/hooks')
  expect(await check(url.href, network)).toEqual({ url, addresses: ['10.0.0.2'] })
  const secure = await rejection(check('https://peer.example:8443/hooks', network))
  expect(secure).toEqual(['address', 'must resolve to public addresses only'])
  const other = await rejection(check('http://other.example:8080/hooks', network))
  expect(other).toEqual(['address', 'must use https'])
})
