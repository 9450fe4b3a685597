import { createServer } from 'node:http'
import { beforeAll } from 'vitest'
import { memoryStore } from '../../sdk/typescript/src/bank-replies.ts'
import { bankServer } from '../../sdk/typescript/src/bank-server.ts'
import type { Service } from './running-service.ts'
import { type ReceivedRequest, received, useServer } from './servers.ts'

type BankRequest = Omit<ReceivedRequest, 'body'> & {
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a submission is looked into, member by member
  body: any
}

type Conduct =
  | 'reject'
  /** Replies that a payment is underway, then pays. */
  | 'take its time'
  /** Handles the request and sends no reply. */
  | 'hang'
  /** Replies so once, without handling the request. */
  | { status: number; body: string; headers?: Record<string, string> }

const REJECTED = {
  status: 'rejected' as const,
  code: 'invalid_account' as const,
  message: 'No such account',
}

const secret = 'cs_secret_of_the_bank'

/**
 * Serves the HTTP endpoint of a bank with its kit in the tests of a file, and creates the bank in the
 * service. The bank is scripted by `conducts`.
 */
export const useHttpBank = (service: Service, settings: Record<string, string> = {}) => {
  const requests: BankRequest[] = []
  const conducts: Conduct[] = []
  /** The uuids of the debits, payouts and refunds that the bank made, in order. */
  const made: string[] = []
  const outcomes = new Map<string, object | (() => Promise<object | undefined>)>()
  /** How the bank replies unlike the kit, by uuid. */
  const unusual = new Map<string, Conduct>()

  const make = <S>(uuid: string, status: S) => {
    made.push(uuid)
    return { status, bankReference: `HTB-${uuid.slice(0, 8)}` }
  }

  const decide = <S>(uuid: string, status: S) => {
    const conduct = conducts.shift()
    if (conduct === 'reject') return REJECTED
    if (conduct === 'hang' || typeof conduct === 'object') unusual.set(uuid, conduct)
    if (typeof conduct === 'object') throw new Error('The request is not handled')
    return make(uuid, status)
  }

  const pay = ({ uuid }: { uuid: string }) => {
    if (conducts[0] !== 'take its time') return decide(uuid, 'paid' as const)
    conducts.shift()
    unusual.set(uuid, 'take its time')
    return { status: 'underway' } as const
  }

  const store = memoryStore<undefined>()
  const bank = bankServer({
    secret,
    store: {
      ...store,
      read: async (key) => {
        const [reply, told] = [await store.read(key), outcomes.get(key.split('/')[1] ?? '')]
        const outcome = typeof told === 'function' ? await told() : told
        return outcome ? JSON.stringify({ ...JSON.parse(reply ?? '{}'), ...outcome }) : reply
      },
    },
    onSubmission: ({ uuid }) => decide(uuid, 'accepted' as const),
    onPayout: pay,
    onRefund: pay,
    onError: () => undefined,
  })

  let failure: number | undefined

  const server = createServer(async (incoming, response) => {
    const request = await received(incoming)
    const { headers, body } = request
    requests.push({ ...request, raw: body, body: body && JSON.parse(body) })
    if (failure !== undefined) {
      response.writeHead(failure).end()
      return
    }
    const uuid = String(headers['x-idempotency-key'])
    await bank.node(Object.assign(incoming, { body: Buffer.from(body) }), {
      writeHead: (status) => {
        response.statusCode = status
      },
      end: (text) => {
        const conduct = unusual.get(uuid)
        unusual.delete(uuid)
        if (typeof conduct === 'object') {
          response.writeHead(conduct.status, conduct.headers).end(conduct.body)
        } else if (conduct !== 'hang') response.end(text)
        if (conduct !== 'take its time') return
        const { status, bankReference: bank_reference } = make(uuid, 'paid')
        outcomes.set(uuid, { status, bank_reference })
      },
    })
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
    /** Replies to all requests with a status, until it is undefined. */
    failsWith: (status: number | undefined) => {
      failure = status
    },
    made,
    /** Replies to status queries, by the uuid of the debit. */
    outcomes,
  }
}
