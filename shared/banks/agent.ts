import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { Agent } from 'undici'
import * as v from 'valibot'
import { parseJson } from '../domain/json.ts'
import { DAY_MS } from '../domain/time.ts'
import { measure } from '../metrics.ts'
import { ConnectorFault } from './connector.ts'

const CONNECT_SECONDS = 5

/** Set here, because Node's command line and environment could lower it. */
const minVersion = 'TLSv1.2'

const Pem = v.pipe(v.string(), v.includes('-----BEGIN '))

/** The text of the stage's client certificate (docs/deployment.md#egress-and-client-certificates). */
const ClientCertificate = v.pipe(
  v.string(),
  v.transform(parseJson),
  v.object({ key: Pem, certificate: Pem, ca: v.optional(Pem) }),
)

type BankAgent = {
  clientCertificate: string | undefined
  agent: Agent
  /** Expiry of the client certificate. */
  validTo: Date | undefined
}

let current: BankAgent | undefined

/**
 * Returns the agent of all requests to banks, which presents the client certificate to a bank that
 * requests one. A rotated certificate gets a new agent; requests in flight keep theirs.
 * @throws ConnectorFault if the certificate is unreadable
 */
export const agentFor = (clientCertificate: string | undefined, at: Date): BankAgent => {
  if (current && current.clientCertificate === clientCertificate) return current
  const { secureContext, validTo } =
    clientCertificate === undefined
      ? { secureContext: createSecureContext({ minVersion }) }
      : parse(clientCertificate)
  const agent = new Agent({
    connect: { timeout: CONNECT_SECONDS * 1000, rejectUnauthorized: true, secureContext },
    pipelining: 1,
    allowH2: false,
  })
  if (validTo) measure({ ClientCertificateDays: (validTo.getTime() - at.getTime()) / DAY_MS })
  void current?.agent.close()
  current = { clientCertificate, agent, validTo }
  return current
}

/** Reports errors by their code only, because a message could quote the key. */
const parse = (text: string): { secureContext: SecureContext; validTo?: Date } => {
  const parsed = v.safeParse(ClientCertificate, text)
  if (!parsed.success) throw unreadable('JSON with key and certificate as PEM is required')
  const { key, certificate: cert, ca } = parsed.output
  try {
    // `ca` would replace the public authorities, which other banks need.
    const authorities = ca && { ca: [...getCACertificates('default'), ca] }
    const secureContext = createSecureContext({ key, cert, minVersion, ...authorities })
    return { secureContext, validTo: new X509Certificate(cert).validToDate }
  } catch (error) {
    throw unreadable(String((error as { code?: string }).code))
  }
}

const unreadable = (reason: string) =>
  new ConnectorFault(2001, `the client certificate is unreadable: ${reason}`)
