import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type LookupFunction } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { closeConnections } from '../../../shared/webhooks/http/connection.ts'
import { type Network, network, resolveHost } from '../../../shared/webhooks/http/network.ts'
import { type PostRequest, post, sender } from '../../../shared/webhooks/http/sender.ts'
import { strict } from '../../../shared/webhooks/http/target.ts'
import { fakeResolver, networkOf, requestTo } from './post-request.ts'
import { closeReceivers, connectionsTo, ended, receiver } from './servers.ts'

afterEach(async () => {
  await closeReceivers()
  await closeConnections()
  vi.unstubAllEnvs()
})

const refused = { outcome: { kind: 'unreached', cause: 'address' }, address: null }

/** Applies the address rules to any URL, because tests cannot use port 443. */
const anyUrl = { ...strict, urlOf: (text: string) => text }
const sendByName = sender(anyUrl, { bodySeconds: 1 })

/** Also treats this machine as public, like a provider's server. */
const sendHere = sender(
  { ...anyUrl, isAllowed: (address) => address === '127.0.0.1' },
  { bodySeconds: 1 },
)

const named = (url: string, host = 'provider.example'): string => url.replace('127.0.0.1', host)

/** Resolves every name to this machine. */
const here = async () => ['127.0.0.1']

const listener = () => receiver((_, response) => response.end('thanks'))

const sent = (url: string, changes: Partial<Network> = {}, request: Partial<PostRequest> = {}) =>
  post(requestTo(url, request), networkOf(changes))

describe('the URL check of each attempt refuses without a connection', () => {
  const urls: [string, (url: string) => string][] = [
    ['of this machine, outside a local sandbox', (url) => url],
    ['with TLS', (url) => url.replace('http:', 'https:')],
    ['as a number', (url) => named(url, '2130706433')],
    ['in hexadecimal', (url) => named(url, '0x7f000001')],
    ['in octal', (url) => named(url, '0177.0.0.1')],
    ['shortened', (url) => named(url, '127.1')],
    ['in full-width digits', (url) => named(url, '\uff11\uff12\uff17.0.0.1')],
    ['mapped into IPv6', (url) => named(url, '[::ffff:127.0.0.1]')],
    ['as localhost', (url) => named(url, 'localhost')],
    ['by a name, without TLS', (url) => named(url)],
    ['by a name, on another port', (url) => named(url).replace('http:', 'https:')],
    ['with credentials', (url) => url.replace('//', '//user:pass@')],
    ['in another scheme', (url) => url.replace('http:', 'gopher:')],
    ['with too long a path', (url) => url.padEnd(2_049, 'a')],
  ]

  test.each(urls)('for a URL %s', async (_form, urlOf) => {
    const url = await listener()
    expect(await sent(urlOf(url), { resolve: here })).toEqual(refused)
    expect(connectionsTo(url)).toEqual([])
  })

  test('for a host of this service', async () => {
    const url = await listener()
    const ownHosts = [new URL(url).host]
    expect(await sent(url, { local: true, ownHosts })).toEqual(refused)
    expect(connectionsTo(url)).toEqual([])
  })

  test.each(['', 'https://', 'not a URL'])('for the invalid URL "%s"', async (url) => {
    expect(await sent(url)).toEqual(refused)
  })
})

describe('receivers of a local sandbox', () => {
  test('http://127.0.0.1 is allowed', async () => {
    const outcome = { kind: 'answered', code: 200, body: 'thanks' }
    expect(await sent(await listener(), { local: true })).toEqual({ outcome, address: '127.0.0.1' })
  })

  const others = ['localhost', 'provider.example', '127.0.0.2', '[::1]', '10.0.0.1', '0.0.0.0']
  test.each(others)('http://%s is refused', async (host) => {
    const url = await listener()
    expect(await sent(named(url, host), { local: true, resolve: here })).toEqual(refused)
    expect(connectionsTo(url)).toEqual([])
  })

  test('a name that resolves to 127.0.0.1 is refused', async () => {
    const network = { local: true, resolve: here }
    expect(await sent('https://provider.example:8443/', network)).toEqual(refused)
  })
})

test.each([
  [['127.0.0.1']],
  [['8.8.8.8', '127.0.0.1']],
  [['127.0.0.1', '8.8.8.8']],
  [['::ffff:127.0.0.1']],
  [['::1', '127.0.0.1']],
  [['0.0.0.0']],
])('a name with the addresses %j is refused without a connection', async (addresses) => {
  const url = await listener()
  const network = networkOf({ resolve: async () => addresses })
  expect(await sendByName(requestTo(named(url)), network)).toEqual(refused)
  expect(connectionsTo(url)).toEqual([])
})

describe('connections to checked addresses', () => {
  test('an attempt resolves the name once, and the next attempt checks it again', async () => {
    const url = await listener()
    const other = await listener()
    const { lookups, resolve } = fakeResolver(['127.0.0.1'], ['10.0.0.1'])
    const first = await sendHere(requestTo(named(url)), networkOf({ resolve }))
    expect(first).toMatchObject({ outcome: { code: 200 }, address: '127.0.0.1' })
    expect(lookups).toEqual(['provider.example'])
    expect(await sendHere(requestTo(named(url)), networkOf({ resolve }))).toEqual(refused)
    expect(lookups).toEqual(['provider.example', 'provider.example'])
    expect(connectionsTo(url)).toHaveLength(1)
    expect(connectionsTo(other)).toEqual([])
  })

  test('connecting never uses the DNS of this machine', async () => {
    const url = named(await listener(), 'no-such-host.invalid')
    const sentTo = await sendHere(requestTo(url), networkOf({ resolve: here }))
    expect(sentTo).toMatchObject({ address: '127.0.0.1' })
  })

  test('an unreachable address falls back to the next one', async () => {
    const anyAddress = sender({ ...anyUrl, isAllowed: () => true }, { bodySeconds: 1 })
    const network = networkOf({ resolve: async () => ['::1', '127.0.0.1'] })
    const sentTo = await anyAddress(requestTo(named(await listener())), network)
    expect(sentTo).toMatchObject({ outcome: { code: 200 }, address: '127.0.0.1' })
  })

  test('a peer with an unchecked address gets no bytes: 0.0.0.0 connects to 127.0.0.1', async () => {
    const url = await listener()
    expect(await sendByName(requestTo(named(url, '0.0.0.0')), networkOf())).toEqual({
      outcome: { kind: 'unreached', cause: 'address' },
      address: '127.0.0.1',
    })
    const [connection] = connectionsTo(url)
    await ended(connection)
    expect(connection?.bytesRead).toBe(0)
  })

  test('Node skips the lookup for an IP address, so the URL check must cover it', async () => {
    const { port } = new URL(await listener())
    const lookups: string[] = []
    const lookup: LookupFunction = (host, _options, done) => {
      lookups.push(host)
      done(null, [])
    }
    const socket = connect({ host: '127.0.0.1', port: Number(port), lookup })
    await once(socket, 'connect')
    socket.destroy()
    expect(lookups).toEqual([])
  })

  test('the Host header has the name', async () => {
    const hosts: (string | undefined)[] = []
    const url = await receiver((request, response) => {
      hosts.push(request.headers.host)
      response.end()
    })
    await sendHere(requestTo(named(url)), networkOf({ resolve: here }))
    expect(hosts).toEqual([`provider.example:${new URL(url).port}`])
  })
})

describe('kept connections', () => {
  const network = networkOf({ resolve: here })

  test('sequential attempts share one connection', async () => {
    const url = await listener()
    for (let n = 0; n < 3; n += 1) await sendHere(requestTo(named(url)), network)
    expect(connectionsTo(url)).toHaveLength(1)
  })

  test('concurrent attempts have their own connections', async () => {
    const url = await listener()
    await Promise.all([1, 2, 3].map(() => sendHere(requestTo(named(url)), network)))
    expect(connectionsTo(url)).toHaveLength(3)
  })

  test('another name of the same address has its own connection', async () => {
    const url = await listener()
    await sendHere(requestTo(named(url)), network)
    await sendHere(requestTo(named(url, 'other.example')), network)
    expect(connectionsTo(url)).toHaveLength(2)
  })
})

describe('outcomes of names without an address', () => {
  const unreached = (cause: string) => ({ outcome: { kind: 'unreached', cause }, address: null })

  test('a name without addresses is a dns failure', async () => {
    expect(await sent('https://provider.example/')).toEqual(unreached('dns'))
  })

  test('a name unknown to the DNS of this machine is a dns failure', async () => {
    const url = `https://${'x'.repeat(64)}.example/`
    expect(await sent(url, { resolve: resolveHost })).toEqual(unreached('dns'))
  })

  const never = Promise.withResolvers<string[]>().promise

  test.each([
    ['connection timeout', { connectionTimeoutSeconds: 0.1 }],
    ['limit of the attempt', { timeoutSeconds: 0.1 }],
  ])(
    'a lookup without a response is a connect_timeout at the %s',
    async (_limit, request) => {
      const sentTo = await sent('https://provider.example/', { resolve: () => never }, request)
      expect(sentTo).toEqual(unreached('connect_timeout'))
    },
    2_000,
  )
})

describe('the sender of a deployment', () => {
  test('it uses the network settings of the environment', () => {
    vi.stubEnv('OWN_HOSTS', ' API.service.example, bank.service.example:8443,')
    expect(network).toMatchObject({
      resolve: resolveHost,
      local: false,
      ownHosts: ['api.service.example', 'bank.service.example:8443'],
    })
    vi.stubEnv('OWN_HOSTS', undefined)
    expect(network.ownHosts).toEqual([])
  })

  test('it is strict, and no other sender exists', () => {
    const senders = ['functions', 'shared'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(folder, file))
        .flatMap((file) => readFileSync(file, 'utf8').match(/\bsender\(.*/g) ?? []),
    )
    expect(senders).toEqual(['sender(strict, { bodySeconds: 5 })'])
  })
})
