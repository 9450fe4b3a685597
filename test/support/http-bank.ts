import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import { checkSignature } from '../../shared/api/request-signature.ts'
import { listen } from './servers.ts'

/**
 * A bank with an HTTP endpoint (docs/bank-protocol.md). It verifies signatures, deduplicates by
 * key, and handles the next submissions and payments as scripted.
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
  | 'accept'
  | 'reject'
  /** Reports a payment as in progress and pays at the next request. */
  | 'take its time'
  | 'accept, then break off'
  /** Replies so once, without handling the request. */
  | Answer

export type HttpBank = {
  url: () => string
  secret: string
  /** The options of `bank create` for this bank, HTB. */
  options: () => Record<string, string>
  requests: Taken[]
  /** Returns the requests about a debit or a payment. */
  requestsFor: (uuid: string) => Taken[]
  /** Scripted handling of the next requests; the bank accepts all others. */
  conducts: Conduct[]
  /** The uuids of the debits, payments and refunds that the bank made, in order. */
  debits: string[]
  payments: string[]
  refunds: string[]
  /** Replies to status queries, by the uuid of the debit. */
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

/** Members of every reply. */
type About = { uuid: string; amount: string }

/** Starts the bank before the tests of a file and stops it after them. */
export const useHttpBank = (): HttpBank => {
  const requests: Taken[] = []
  const conducts: Conduct[] = []
  const debits: string[] = []
  const payments: string[] = []
  const refunds: string[] = []
  const answered = new Map<string, Answer>()
  /** Payments in progress, which the next request completes. */
  const underway = new Map<string, About>()
  const received = new Map<string, About>()
  const outcomes = new Map<string, object>()
  const secret = 'cs_secret_of_the_bank'

  const isGenuine = ({ method, path, headers, raw }: Taken): boolean => {
    const signature = String(headers['x-signature'])
    const timestamp = String(headers['x-timestamp'])
    const signed = { method, targets: [path], body: Buffer.from(raw), signature, timestamp }
    return checkSignature(signed, [secret], new Date()) === undefined
  }

  const accepted = (kind: Kind, about: About): Answer => {
    const bank_reference = `HTB-${about.uuid.slice(0, 8)}`
    if (kind !== 'submissions') {
      const paid = kind === 'settlements' ? payments : refunds
      paid.push(about.uuid)
      return answer(201, { ...about, status: 'paid', bank_reference })
    }
    debits.push(about.uuid)
    return answer(202, { ...about, status: 'accepted', bank_reference })
  }

  /** Returns the reply to a repeated request; undefined: it is the first. */
  const findReply = (kind: Kind, uuid: string): Answer | undefined => {
    const about = underway.get(uuid)
    if (about && underway.delete(uuid)) answered.set(uuid, accepted(kind, about))
    const outcome = outcomes.get(uuid)
    return outcome ? answer(200, { ...received.get(uuid), ...outcome }) : answered.get(uuid)
  }

  const apply = (conduct: Conduct, kind: Kind, about: About): Answer => {
    if (conduct === 'reject') return answer(422, { ...about, ...REJECTIONS[kind] })
    if (conduct !== 'take its time') return accepted(kind, about)
    underway.set(about.uuid, about)
    return answer(202, { ...about, status: 'underway' })
  }

  const handlePost = (kind: Kind, { headers, body }: Taken): Answer | 'break off' => {
    const key = String(headers['x-idempotency-key'])
    const earlier = findReply(kind, key)
    if (earlier) return earlier
    if (body?.uuid !== key) return answer(400, {})
    const about = { uuid: key, amount: String(body.amount) }
    received.set(key, about)
    const conduct = conducts.shift() ?? 'accept'
    if (typeof conduct === 'object') return conduct
    const first = apply(conduct, kind, about)
    answered.set(key, first)
    return conduct === 'accept, then break off' ? 'break off' : first
  }

  const answerTo = (taken: Taken): Answer | 'break off' => {
    if (!isGenuine(taken)) return answer(401, {})
    const [, segment, uuid = ''] = taken.path.slice(1).split('/')
    const kind = kinds.find((name) => name === segment)
    if (!kind) return answer(404, {})
    return taken.method === 'POST'
      ? handlePost(kind, taken)
      : (findReply(kind, uuid) ?? answer(404, {}))
  }

  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const raw = await text(request)
    const taken = { method, path, headers, raw, body: raw === '' ? undefined : JSON.parse(raw) }
    requests.push(taken)
    const reply = answerTo(taken)
    if (reply === 'break off') response.destroy()
    else response.writeHead(reply.status, reply.headers).end(reply.body)
  })

  let port = 0
  beforeAll(async () => {
    port = await listen(server)
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const url = () => `http://127.0.0.1:${port}/debits`
  return {
    url,
    secret,
    options: () => ({
      bank: 'HTB',
      name: 'Test Bank',
      connector: 'http',
      'connector-url': url(),
      'connector-secret': secret,
    }),
    requests,
    requestsFor: (uuid) => requests.filter(({ path, raw }) => `${path}${raw}`.includes(uuid)),
    conducts,
    debits,
    payments,
    refunds,
    outcomes,
  }
}
