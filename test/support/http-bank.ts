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
  | 'reject'
  /** Reports a payment as in progress and pays at the next request. */
  | 'take its time'
  /** Handles the request and sends no reply. */
  | 'hang'
  /** Replies so once, without handling the request. */
  | Answer

type Kind = 'submissions' | 'settlements' | 'refunds'

const answer = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })

/** Members of every reply. */
type About = { uuid: string; amount: string }

const REJECTED = { status: 'rejected', code: 'invalid_account', message: 'No such account' }

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
export const useHttpBank = (service: Service, settings: Record<string, string> = {}) => {
  const requests: BankRequest[] = []
  const conducts: Conduct[] = []
  /** The uuids of the debits, payouts and refunds that the bank made, in order. */
  const made: Record<Kind, string[]> = { submissions: [], settlements: [], refunds: [] }
  const outcomes = new Map<string, object>()
  const received = new Map<string, About>()
  /** Replies to repeated requests and to queries. */
  const replies = new Map<string, () => Answer>()

  const repeatable = (uuid: string, reply: Answer): Answer => {
    replies.set(uuid, () => reply)
    return reply
  }

  const accept = (kind: Kind, about: About): Answer => {
    const { uuid } = about
    const [code, status] = kind === 'submissions' ? [202, 'accepted'] : [201, 'paid']
    made[kind].push(uuid)
    const bank_reference = `HTB-${uuid.slice(0, 8)}`
    return repeatable(uuid, answer(code, { ...about, status, bank_reference }))
  }

  const handle = (kind: Kind, about: About): Answer | undefined => {
    const conduct = conducts.shift()
    if (conduct === undefined) return accept(kind, about)
    if (conduct === 'hang') {
      accept(kind, about)
      return undefined
    }
    if (conduct === 'reject') {
      return repeatable(about.uuid, answer(422, { ...about, ...REJECTED }))
    }
    if (conduct !== 'take its time') return conduct
    replies.set(about.uuid, () => accept(kind, about))
    return answer(202, { ...about, status: 'underway' })
  }

  const replyTo = (request: BankRequest): Answer | undefined => {
    if (!isGenuine(request)) return answer(401, {})
    const [, kind = '', queried = ''] = request.path.slice(1).split('/')
    const isPost = request.method === 'POST'
    const uuid = isPost ? String(request.headers['x-idempotency-key']) : queried
    const outcome = outcomes.get(uuid)
    if (outcome) return answer(200, { ...received.get(uuid), ...outcome })
    const reply = replies.get(uuid)
    if (reply) return reply()
    if (!isPost || !(kind in made)) return answer(404, {})
    if (request.body?.uuid !== uuid) return answer(400, {})
    received.set(uuid, { uuid, amount: String(request.body.amount) })
    return handle(kind as Kind, { uuid, amount: String(request.body.amount) })
  }

  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming
    const raw = await text(incoming)
    const request = { method, path, headers, raw, body: raw === '' ? undefined : JSON.parse(raw) }
    requests.push(request)
    const reply = replyTo(request)
    if (reply) response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  const address = useServer(server)
  const url = () => `${address()}/debits`
  beforeAll(async () => {
    const connector = { 'connector-url': `${url()}/`, 'connector-secret': secret }
    const created = { bank: 'HTB', name: 'Test Bank', connector: 'http', ...connector, ...settings }
    const token = `bt_sandbox_${created.bank.toLowerCase()}`
    await service.call('bank', 'create', created)
    await service.call('credential', 'issue', { bank: created.bank, token })
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
