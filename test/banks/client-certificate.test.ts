import { text } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { inspect } from 'node:util'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ConnectorFault } from '../../shared/banks/connector.ts'
import { findClientCertificate } from '../../shared/store/banks/client-certificate.ts'
import { sender } from '../../shared/webhooks/http/sender.ts'
import { captureOutput } from '../support/output.ts'
import { networkOf, pem, requestTo, tlsReceiver } from '../webhooks/http/servers.ts'
import { submissionOf } from './examples.ts'
import { accepted, faultOf, submit } from './stub-bank.ts'

const output = captureOutput()

/** Returns the text of a secret with a certificate and the authority of the tests. */
const certificateOf = (name: string, changes: object = {}) =>
  JSON.stringify({
    key: pem(`${name}.key`),
    certificate: pem(name),
    ca: pem('authority'),
    ...changes,
  })

/** Trusts the authority of the tests as a public one, until the end of the test. */
const trustAuthority = () => {
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, pem('authority')])
  onTestFinished(() => setDefaultCACertificates(trusted))
}

/** Starts a bank that records the client certificates of its requests, and requires a valid one. */
const bankWithClients = async ({ isRequired = true } = {}) => {
  const clients: unknown[] = []
  const url = await tlsReceiver(
    'local',
    async (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate()
      clients.push(subject?.CN)
      const { uuid, amount } = JSON.parse(await text(request))
      response.end(JSON.stringify({ uuid, amount, status: 'accepted', bank_reference: 'HTB-1' }))
    },
    { requestCert: true, rejectUnauthorized: isRequired, ca: pem('authority') },
  )
  return { url, clients }
}

const submitWith = (url: string, certificate: string | undefined) =>
  submit(url, submissionOf(), { clientCertificate: async () => certificate })

test('a bank that requires a client certificate gets it, and a rotated one from the next request', async () => {
  const { url, clients } = await bankWithClients()
  expect(await submitWith(url, certificateOf('provider'))).toEqual(accepted)
  expect(await submitWith(url, certificateOf('local'))).toEqual(accepted)
  expect(clients).toEqual(['Test only: provider', 'Test only: local'])
})

test('a bank that requests no client certificate is served with the same agent', async () => {
  const { url, clients } = await bankWithClients({ isRequired: false })
  expect(await submitWith(url, certificateOf('self-signed'))).toEqual(accepted)
  expect(clients).toHaveLength(1)
})

test.each([
  ['has none', undefined],
  ['has an expired one', certificateOf('expired')],
  ['has one of an unknown authority', certificateOf('self-signed')],
])('a bank with client certificates is unreachable if the service %s', async (_, certificate) => {
  trustAuthority()
  const { url, clients } = await bankWithClients()
  expect(await faultOf(submitWith(url, certificate))).toBe(2502)
  expect(clients).toEqual([])
})

test('a bank with a private authority is trusted only with ca', async () => {
  const { url } = await bankWithClients({ isRequired: false })
  expect(await faultOf(submitWith(url, undefined))).toBe(2502)
  expect(await faultOf(submitWith(url, certificateOf('provider', { ca: undefined })))).toBe(2502)
  expect(await submitWith(url, certificateOf('provider'))).toEqual(accepted)
})

test.each([
  ['is not JSON', 'private words'],
  ['has no key', certificateOf('provider', { key: undefined })],
  ['has no PEM', certificateOf('provider', { certificate: 'private words' })],
  ['has the key of another', certificateOf('provider', { key: pem('local.key') })],
])('a secret that %s is a fault without its text, and the next works', async (_, certificate) => {
  const { url, clients } = await bankWithClients()
  const fault = await submitWith(url, certificate).catch((error: unknown) => error)
  expect(fault).toBeInstanceOf(ConnectorFault)
  expect(fault).toMatchObject({ code: 2001 })
  expect(String(fault)).toContain('the client certificate is unreadable')
  expect(inspect(fault)).not.toMatch(/private words|BEGIN/)
  expect(clients).toEqual([])
  expect(await submitWith(url, certificateOf('provider'))).toEqual(accepted)
})

test('a worker measures the days of a certificate once, when it begins to use it', async () => {
  vi.stubEnv('METRICS_DISABLED', 'false')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { url } = await bankWithClients()
  await submitWith(url, certificateOf('local'))
  output.clear()
  for (const _ of [1, 2]) await submitWith(url, certificateOf('provider'))
  const days = (Date.UTC(2099, 11, 31, 23, 59, 59) - Date.now()) / 86_400_000
  expect(output.metrics()).toEqual([{ ClientCertificateDays: expect.closeTo(days, 1) }])
})

test('a fault names an expired client certificate', async () => {
  const { url } = await bankWithClients()
  const fault = await submitWith(url, certificateOf('expired')).catch(String)
  expect(fault).toMatch(/^ConnectorFault: .*, the client certificate has expired$/)
})

test('a secret that Secrets Manager does not return is a fault with its cause', async () => {
  const { url } = await bankWithClients()
  vi.stubEnv('BANK_CLIENT_CERTIFICATE_ARN', 'arn:denied')
  const calls = mockClient(SecretsManagerClient).on(GetSecretValueCommand).rejects('denied')
  const fault = await submit(url, submissionOf(), {
    clientCertificate: findClientCertificate,
  }).catch((error: unknown) => error)
  expect(fault).toMatchObject({ code: 2001, cause: { message: 'denied' } })
  calls.restore()
})

test('a function reads the secret once while its cache is valid, and never without the setting', async () => {
  const calls = mockClient(SecretsManagerClient)
  expect(await findClientCertificate()).toBeUndefined()
  vi.stubEnv('BANK_CLIENT_CERTIFICATE_ARN', 'arn:cached')
  calls.on(GetSecretValueCommand).resolves({ SecretString: certificateOf('provider') })
  for (const _ of [1, 2]) expect(await findClientCertificate()).toBe(certificateOf('provider'))
  expect(calls.commandCalls(GetSecretValueCommand)).toHaveLength(1)
  calls.restore()
})

test('a webhook receiver that requests a client certificate gets none', async () => {
  const bank = await bankWithClients()
  await submitWith(bank.url, certificateOf('provider'))
  trustAuthority()
  const clients: object[] = []
  const url = await tlsReceiver(
    'provider',
    (request, response) => {
      clients.push((request.socket as TLSSocket).getPeerCertificate())
      response.end()
    },
    { requestCert: true, rejectUnauthorized: false },
  )
  const post = sender({ urlOf: (href) => href, isAllowed: () => true }, { bodySeconds: 1 })
  const network = networkOf({ resolve: async () => ['127.0.0.1'] })
  await post(requestTo(url.replace('127.0.0.1', 'provider.example')), network)
  expect(clients).toEqual([{}])
})
