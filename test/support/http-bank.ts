import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import { checkSignature } from '../../shared/api/request-signature.ts'

/**
 * A bank with an endpoint of its own, as docs/bank-protocol.md asks for: it checks signatures,
 * knows a repeat by its key, and treats the next submissions and payments as a test tells it.
 */

export type Taken = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a submission is looked into, member by member
  body: any
}

type Answer = { status: number; body: string; headers?: Record<string, string> }

export type Conduct =
  /** Begins the debit, or pays. */
  | 'accept'
  | 'reject'
  /** Of payments: has it underway, and pays when it is asked again. */
  | 'take its time'
  | 'stay silent'
  | 'accept, then break off'
  | 'accept, then stay silent'
  /** Says this once, without having looked at the submission, or `after` it has accepted it. */
  | (Answer & { after?: 'accept' })

export type HttpBank = {
  url: () => string
  secret: string
  requests: Taken[]
  /** How the next submissions and payments are treated, before all others are accepted. */
  conducts: Conduct[]
  /** The uuid of each debit that was begun, once for each time. */
  debits: string[]
  /** The uuid of each payment that was made, once for each time. */
  payments: string[]
  /** The uuid of each refund that was made, once for each time. */
  refunds: string[]
  /** The outcome of a debit by its uuid, which the bank then names when it is asked. */
  outcomes: Map<string, object>
}

const kinds = ['submissions', 'settlements', 'refunds'] as const
type Kind = (typeof kinds)[number]

const answer = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })

const REJECTIONS: Record<Kind, object> = {
  submissions: { status: 'rejected', code: 'invalid_account', message: 'No such account' },
  settlements: { status: 'rejected', message: 'No such account' },
  refunds: { status: 'rejected', message: 'The account is closed' },
}

/** Every reply names the debit or the payment, and its amount. */
type About = { uuid: string; amount: string }

/**
 * Opens it before the tests of a file and closes it after.
 * @param now its clock, by which it checks signatures
 */
export const useHttpBank = (now = () => new Date()): HttpBank => {
  const requests: Taken[] = []
  const conducts: Conduct[] = []
  const debits: string[] = []
  const payments: string[] = []
  const refunds: string[] = []
  const answered = new Map<string, Answer>()
  /** The payments that are made when they are asked for. */
  const underway = new Map<string, About>()
  /** All that the bank has received, by its uuid. */
  const received = new Map<string, About>()
  const outcomes = new Map<string, object>()
  const secret = 'cs_secret_of_the_bank'

  const isGenuine = ({ method, path, headers, raw }: Taken): boolean => {
    const signature = String(headers['x-signature'])
    const timestamp = String(headers['x-timestamp'])
    const signed = { method, targets: [path], body: Buffer.from(raw), signature, timestamp }
    return checkSignature(signed, [secret], now()) === undefined
  }

  const accepted = (kind: Kind, about: About): Answer => {
    const bank_reference = `HTB-${about.uuid.slice(0, 8)}`
    if (kind !== 'submissions') {
      const made = kind === 'settlements' ? payments : refunds
      made.push(about.uuid)
      return answer(201, { ...about, status: 'paid', bank_reference })
    }
    debits.push(about.uuid)
    return answer(202, { ...about, status: 'accepted', bank_reference })
  }

  /** What is answered to all that comes after the first time. */
  const known = (kind: Kind, uuid: string): Answer | undefined => {
    const about = underway.get(uuid)
    if (about && underway.delete(uuid)) answered.set(uuid, accepted(kind, about))
    const outcome = outcomes.get(uuid)
    return outcome ? answer(200, { ...received.get(uuid), ...outcome }) : answered.get(uuid)
  }

  const treated = (conduct: Conduct, kind: Kind, about: About): Answer => {
    if (conduct === 'reject') return answer(422, { ...about, ...REJECTIONS[kind] })
    if (conduct !== 'take its time') return accepted(kind, about)
    underway.set(about.uuid, about)
    return answer(202, { ...about, status: 'underway' })
  }

  /** What a submission or a payment is answered, if it is. */
  const handedOver = (kind: Kind, { headers, body }: Taken): Answer | 'silence' | 'break off' => {
    const key = String(headers['x-idempotency-key'])
    const earlier = known(kind, key)
    if (earlier) return earlier
    if (body?.uuid !== key) return answer(400, {})
    const about = { uuid: key, amount: String(body.amount) }
    received.set(key, about)
    const conduct = conducts.shift() ?? 'accept'
    if (conduct === 'stay silent') return 'silence'
    if (typeof conduct === 'object' && conduct.after !== 'accept') return conduct
    const first = treated(conduct, kind, about)
    answered.set(key, first)
    if (typeof conduct === 'object') return conduct
    if (conduct === 'accept, then break off') return 'break off'
    return conduct === 'accept, then stay silent' ? 'silence' : first
  }

  const answerTo = (taken: Taken): Answer | 'silence' | 'break off' => {
    if (!isGenuine(taken)) return answer(401, {})
    const [, named, uuid = ''] = taken.path.slice(1).split('/')
    const kind = kinds.find((one) => one === named)
    if (!kind) return answer(404, {})
    return taken.method === 'POST'
      ? handedOver(kind, taken)
      : (known(kind, uuid) ?? answer(404, {}))
  }

  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const raw = await text(request)
    const taken = { method, path, headers, raw, body: raw === '' ? undefined : JSON.parse(raw) }
    requests.push(taken)
    const said = answerTo(taken)
    if (said === 'break off') response.destroy()
    else if (said !== 'silence') response.writeHead(said.status, said.headers).end(said.body)
  })

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return {
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/debits`,
    secret,
    requests,
    conducts,
    debits,
    payments,
    refunds,
    outcomes,
  }
}
