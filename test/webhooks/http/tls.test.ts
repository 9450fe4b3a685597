import { createServer as createNetServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { closeConnections } from '../../../shared/webhooks/http/connection.ts'
import { type PostRequest, sender } from '../../../shared/webhooks/http/sender.ts'
import { networkOf, requestTo } from './post-request.ts'
import {
  closeReceivers,
  connectionsTo,
  ended,
  listening,
  pem,
  receiver,
  tlsReceiver,
} from './servers.ts'

/** Treats this machine and any port as public. */
const send = sender({ urlOf: (text) => text, isAllowed: () => true }, { bodySeconds: 1 })

const network = networkOf({ resolve: async () => ['127.0.0.1'] })

const sendTo = (url: string, host: string, request: Partial<PostRequest> = {}) =>
  send(requestTo(url.replace('127.0.0.1', host), request), network)

const failed = (cause: string) => ({
  outcome: { kind: 'unreached', cause },
  address: '127.0.0.1',
})

const trusted = getCACertificates('default')

beforeAll(() => setDefaultCACertificates([...trusted, pem('authority')]))
afterAll(() => setDefaultCACertificates(trusted))

afterEach(async () => {
  await closeReceivers()
  await closeConnections()
  vi.unstubAllEnvs()
})

test('SNI and Host have the name, and the certificate is checked against it', async () => {
  const requests: unknown[] = []
  const url = await tlsReceiver('provider', (request, response) => {
    const { servername, alpnProtocol } = request.socket as TLSSocket
    requests.push({ servername, alpnProtocol, host: request.headers.host })
    response.end('thanks')
  })
  const outcome = { kind: 'answered', code: 200, body: 'thanks' }
  expect(await sendTo(url, 'provider.example')).toEqual({ outcome, address: '127.0.0.1' })
  const host = `provider.example:${new URL(url).port}`
  expect(requests).toEqual([{ servername: 'provider.example', alpnProtocol: 'http/1.1', host }])
})

test('a TLS connection is kept', async () => {
  const url = await tlsReceiver('provider', (_, response) => response.end())
  for (let n = 0; n < 3; n += 1) await sendTo(url, 'provider.example')
  expect(connectionsTo(url)).toHaveLength(1)
})

const certificates: [string, string, string][] = [
  ['self-signed', 'self-signed', 'provider.example'],
  ['expired', 'expired', 'provider.example'],
  ['for another name', 'provider', 'other.example'],
  ['for a name above', 'provider', 'hooks.provider.example'],
  ['for no address', 'provider', '127.0.0.1'],
]

test.each(certificates)(
  'a receiver whose certificate is %s gets no request',
  async (_problem, certificate, host) => {
    // The environment cannot disable the check.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const visits: unknown[] = []
    const url = await tlsReceiver(certificate, (request, response) => {
      visits.push(request.url)
      response.end()
    })
    expect(await sendTo(url, host)).toEqual(failed('tls'))
    expect(visits).toEqual([])
  },
)

describe('TLS versions', () => {
  test.each(['TLSv1', 'TLSv1.1'] as const)('%s is refused', async (version) => {
    const settings = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' }
    const url = await tlsReceiver('provider', (_, response) => response.end(), settings)
    expect(await sendTo(url, 'provider.example')).toEqual(failed('tls'))
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is accepted', async (version) => {
    const settings = { minVersion: version, maxVersion: version }
    const url = await tlsReceiver('provider', (_, response) => response.end(), settings)
    expect(await sendTo(url, 'provider.example')).toMatchObject({ outcome: { code: 200 } })
  })
})

describe('a failed TLS handshake is a tls failure', () => {
  test('with a receiver of plain HTTP', async () => {
    const url = await receiver((_, response) => response.end())
    expect(await sendTo(url.replace('http:', 'https:'), 'provider.example')).toEqual(failed('tls'))
  })

  test('with a receiver without a certificate', async () => {
    const url = await tlsReceiver('provider', () => undefined, { cert: '', key: '' })
    expect(await sendTo(url, 'provider.example')).toEqual(failed('tls'))
  })

  const closings = ['end', 'resetAndDestroy'] as const
  test.each(closings)('with a receiver that closes by %s', async (close) => {
    const server = createNetServer((socket) => socket.once('data', () => socket[close]()))
    const url = await listening(server, 'https')
    expect(await sendTo(url, 'provider.example')).toEqual(failed('tls'))
  })

  test.each([
    ['connection timeout', { connectionTimeoutSeconds: 0.1 }],
    ['limit of the attempt', { timeoutSeconds: 0.1 }],
  ])(
    'a silent receiver is a connect_timeout at the %s',
    async (_limit, request) => {
      const url = await listening(createNetServer(), 'https')
      const sent = await sendTo(url, 'provider.example', request)
      expect(sent).toEqual(failed('connect_timeout'))
      await ended(connectionsTo(url)[0]?.resume())
    },
    2_000,
  )
})
