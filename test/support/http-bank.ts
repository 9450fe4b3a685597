import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { beforeAll } from 'vitest'
import { checkSignature } from '../../shared/api/request-signature.ts'
import type { Service } from './running-service.ts'
import { useServer } from './servers.ts'

type BankRequest = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a submission is looked into, member by member
  body: any
}

type Answer = { status: number; body: string; headers?: Record<string, string> }

type Conduct =
  | 'accept'
  | 'reject'
  /** Reports a payment as in progress and pays at the next request. */
  | 'take its time'
  | 'accept, then break off'
  /** Replies so once, without handling the request. */
  | Answer

const REJECTIONS = {
  submissions: { status: 'rejected', code: 'invalid_account', message: 'No such account' },
  settlements: { status: 'rejected', message: 'No such account' },
  refunds: { status: 'rejected', message: 'The account is closed' },
}
type Kind = keyof typeof REJECTIONS

const answer = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })

/** Members of every reply. */
type About = { uuid: string; amount: string }

const secret = 'cs_secret_of_the_bank'

const isGenuine = ({ method, path, headers, raw }: BankRequest): boolean => {
  const signature = String(headers['x-signature'])
  const timestamp = String(headers['x-timestamp'])
  const signed = { method, targets: [path], body: Buffer.from(raw), signature, timestamp }
  return checkSignature(signed, [secret], new Date()) === undefined
}

/**
 * Serves the HTTP endpoint of a bank (docs/bank-protocol.md) in the tests of a file, and creates the
 * bank in the service. It verifies signatures, deduplicates by key, and is scripted by `conducts`.
 */
export const useHttpBank = (service?: Service, settings: Record<string, string> = {}) => {
  const requests: BankRequest[] = []
  const conducts: Conduct[] = []
  /** The uuids of the debits, payouts and refunds that the bank made, in order. */
  const made: Record<Kind, string[]> = { submissions: [], settlements: [], refunds: [] }
  const answered = new Map<string, Answer>()
  /** Payments in progress, which the next request completes. */
  const underway = new Map<string, About>()
  const received = new Map<string, About>()
  const outcomes = new Map<string, object>()

  const accepted = (kind: Kind, about: About): Answer => {
    const bank_reference = `HTB-${about.uuid.slice(0, 8)}`
    made[kind].push(about.uuid)
    return kind === 'submissions'
      ? answer(202, { ...about, status: 'accepted', bank_reference })
      : answer(201, { ...about, status: 'paid', bank_reference })
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

  const handlePost = (kind: Kind, { headers, body }: BankRequest): Answer | 'break off' => {
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

  const answerTo = (request: BankRequest): Answer | 'break off' => {
    if (!isGenuine(request)) return answer(401, {})
    const [, kind = '', uuid = ''] = request.path.slice(1).split('/')
    if (!(kind in made)) return answer(404, {})
    return request.method === 'POST'
      ? handlePost(kind as Kind, request)
      : (findReply(kind as Kind, uuid) ?? answer(404, {}))
  }

  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming
    const raw = await text(incoming)
    const request = { method, path, headers, raw, body: raw === '' ? undefined : JSON.parse(raw) }
    requests.push(request)
    const reply = answerTo(request)
    if (reply === 'break off') response.destroy()
    else response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  const address = useServer(server)
  const url = () => `${address()}/debits`
  beforeAll(async () => {
    const connector = { 'connector-url': `${url()}/`, 'connector-secret': secret }
    const created = { bank: 'HTB', name: 'Test Bank', connector: 'http', ...connector, ...settings }
    const token = `bt_sandbox_${created.bank.toLowerCase()}`
    await service?.call('bank', 'create', created)
    await service?.call('credential', 'issue', { bank: created.bank, token })
  })
  return {
    url,
    secret,
    requests,
    /** Returns the requests about a debit or a payment. */
    requestsFor: (uuid: string) =>
      requests.filter(({ path, raw }) => `${path}${raw}`.includes(uuid)),
    /** Scripted handling of the next requests; the bank accepts all others. */
    conducts,
    made,
    /** Replies to status queries, by the uuid of the debit. */
    outcomes,
  }
}
