import { createServer as createNetServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type PostRequest, sender } from '../../../shared/webhooks/http/sender.ts'
import {
  connectionsTo,
  ended,
  listening,
  networkOf,
  pem,
  receiver,
  requestTo,
  tlsReceiver,
} from './servers.ts'

/** Treats this machine and any port as public. */
const send = sender({ urlOf: (text) => text, isAllowed: () => true }, { bodySeconds: 1 })
const network = networkOf({ resolve: async () => ['127.0.0.1'] })

const sendTo = (url: string, host = 'provider.example', request: Partial<PostRequest> = {}) =>
  send(requestTo(url.replace('127.0.0.1', host), request), network)

const failed = (cause: string) => ({ outcome: { kind: 'unreached', cause }, address: '127.0.0.1' })
const accepted = { outcome: { kind: 'answered', code: 200, body: 'thanks' }, address: '127.0.0.1' }

const trusted = getCACertificates('default')
beforeAll(() => setDefaultCACertificates([...trusted, pem('authority')]))
afterAll(() => setDefaultCACertificates(trusted))

test('the TLS name and Host have the name, the certificate is checked, and the connection is kept', async () => {
  const requests: unknown[] = []
  const url = await tlsReceiver('provider', (request, response) => {
    const { servername, alpnProtocol } = request.socket as TLSSocket
    requests.push({ servername, alpnProtocol, host: request.headers.host })
    response.end('thanks')
  })
  for (let n = 0; n < 2; n += 1) expect(await sendTo(url)).toEqual(accepted)
  const host = `provider.example:${new URL(url).port}`
  const request = { servername: 'provider.example', alpnProtocol: 'http/1.1', host }
  expect(requests).toEqual([request, request])
  expect(connectionsTo(url)).toHaveLength(1)
})

test.each([
  ['self-signed', 'self-signed', 'provider.example'],
  ['expired', 'expired', 'provider.example'],
  ['for another name', 'provider', 'other.example'],
  ['for a name above', 'provider', 'hooks.provider.example'],
  ['for no address', 'provider', '127.0.0.1'],
])('a receiver whose certificate is %s gets no request', async (_, certificate, host) => {
  // The environment cannot disable the check.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const visit = vi.fn()
  const url = await tlsReceiver(certificate, visit)
  expect(await sendTo(url, host)).toEqual(failed('tls'))
  expect(visit).not.toHaveBeenCalled()
})

test.each([
  ['TLSv1', failed('tls')],
  ['TLSv1.1', failed('tls')],
  ['TLSv1.2', accepted],
  ['TLSv1.3', accepted],
] as const)('a receiver with %s ends an attempt with %j', async (version, result) => {
  const settings = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' }
  const url = await tlsReceiver('provider', (_, response) => response.end('thanks'), settings)
  expect(await sendTo(url)).toEqual(result)
})

const closing = (close: 'end' | 'resetAndDestroy') => () =>
  listening(createNetServer((socket) => socket.once('data', () => socket[close]())))

test.each([
  ['speaks plain HTTP', () => receiver((_, response) => response.end())],
  ['has no certificate', () => tlsReceiver('provider', () => undefined, { cert: '', key: '' })],
  ['ends the connection', closing('end')],
  ['resets the connection', closing('resetAndDestroy')],
])('a receiver that %s is a tls failure', async (_, open) => {
  const url = await open()
  expect(await sendTo(url.replace('http:', 'https:'))).toEqual(failed('tls'))
})

const limits = [{ connectionTimeoutSeconds: 0.1 }, { timeoutSeconds: 0.1 }]
test.each(limits)(
  'a silent receiver is a connect_timeout at %j',
  async (request) => {
    const url = await listening(createNetServer(), 'https')
    expect(await sendTo(url, undefined, request)).toEqual(failed('connect_timeout'))
    await ended(connectionsTo(url)[0]?.resume())
  },
  4_000,
)
