import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import { judgeSignature } from '../../shared/api/request-signature.ts'

/**
 * A bank with an endpoint of its own, as docs/bank-protocol.md asks for: it checks signatures,
 * knows a repeat by its key, and treats the next submissions as a test tells it.
 */

export type Taken = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a submission is looked into, member by member
  body: any
}

export type Conduct =
  | 'accept'
  | 'reject'
  | 'stay silent'
  | 'accept, then break off'
  | 'accept, then stay silent'
  /** Says this once, without having looked at the submission. */
  | { status: number; body: string }

export type HttpBank = {
  url: () => string
  secret: string
  requests: Taken[]
  /** How the next submissions are treated, before all others are accepted. */
  conducts: Conduct[]
  /** The uuid of each debit that was begun, once for each time. */
  debits: string[]
}

type Answer = { status: number; body: string }

const answer = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })

/** Opens it before the tests of a file and closes it after. */
export const useHttpBank = (): HttpBank => {
  const requests: Taken[] = []
  const conducts: Conduct[] = []
  const debits: string[] = []
  const answered = new Map<string, Answer>()
  const secret = 'cs_secret_of_the_bank'

  const isGenuine = ({ method, path, headers, raw }: Taken): boolean => {
    const signature = String(headers['x-signature'])
    const timestamp = String(headers['x-timestamp'])
    const signed = { method, paths: [path], body: Buffer.from(raw), signature, timestamp }
    return judgeSignature(signed, secret, new Date()) === undefined
  }

  const accepted = (uuid: string): Answer => {
    debits.push(uuid)
    return answer(202, { status: 'accepted', bank_reference: `HTB-${uuid.slice(0, 8)}` })
  }

  /** What a submission is answered, if it is. */
  const submitted = ({ headers, body }: Taken): Answer | 'silence' | 'break off' => {
    const key = String(headers['x-idempotency-key'])
    const known = answered.get(key)
    if (known) return known
    if (body?.uuid !== key) return answer(400, {})
    const conduct = conducts.shift() ?? 'accept'
    if (typeof conduct === 'object') return conduct
    if (conduct === 'stay silent') return 'silence'
    const first =
      conduct === 'reject'
        ? answer(422, { status: 'rejected', code: 'invalid_account', message: 'No such account' })
        : accepted(key)
    answered.set(key, first)
    if (conduct === 'accept, then break off') return 'break off'
    return conduct === 'accept, then stay silent' ? 'silence' : first
  }

  const answerTo = (taken: Taken): Answer | 'silence' | 'break off' => {
    if (!isGenuine(taken)) return answer(401, {})
    const [, submissions, uuid = ''] = taken.path.slice(1).split('/')
    if (submissions !== 'submissions') return answer(404, {})
    return taken.method === 'POST' ? submitted(taken) : (answered.get(uuid) ?? answer(404, {}))
  }

  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const raw = await text(request)
    const taken = { method, path, headers, raw, body: raw === '' ? undefined : JSON.parse(raw) }
    requests.push(taken)
    const said = answerTo(taken)
    if (said === 'break off') response.destroy()
    else if (said !== 'silence') response.writeHead(said.status).end(said.body)
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
  }
}
