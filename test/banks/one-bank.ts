import { text } from 'node:stream/consumers'
import type { ConnectorConfig } from '../../shared/banks/connector.ts'
import { ConnectorFault } from '../../shared/banks/connector-fault.ts'
import { httpConnector } from '../../shared/banks/http.ts'
import { httpPayouts } from '../../shared/banks/http-payouts.ts'
import type { Submission } from '../../shared/domain/debits/submission.ts'
import type { Payout } from '../../shared/domain/settlement/payout.ts'
import { receiver } from '../webhooks/http/servers.ts'
import { instructionOf } from './one-payout.ts'
import { submissionOf, wiringOf } from './one-submission.ts'

/** What the tests of connector http share: one bank, one attempt, and the fault it ends in. */

export const SECRET = 'cs_secret_of_the_bank'
/** The fields that tie a reply to its request; `saying` fills them in. */
export const ECHO = '"uuid":"$UUID","amount":"$AMOUNT"'
export const ACCEPTED = `{${ECHO},"status":"accepted","bank_reference":"HTB-1"}`
export const accepted = { kind: 'accepted', bankReference: 'HTB-1' }
export const PAID = `{${ECHO},"status":"paid","bank_reference":"HTB-1"}`
export const paid = { kind: 'paid', bankReference: 'HTB-1' }

/** Submits to a bank that is reached under a URL. */
export const submit = (
  url: string,
  submission: Submission = submissionOf(),
  wiring: Partial<ConnectorConfig> = {},
) => {
  const settingsOf = async () => ({ url, secret: SECRET })
  return httpConnector(wiringOf({ settingsOf, ...wiring })).submit(submission)
}

/** Asks a bank that is reached under a URL for the outcome of a debit. */
export const queryOutcome = (url: string, submission: Submission = submissionOf()) => {
  const settingsOf = async () => ({ url, secret: SECRET })
  return httpConnector(wiringOf({ settingsOf })).queryOutcome(submission)
}

/** Gives an instruction to a bank that is reached under a URL. */
export const pay = (url: string, instruction: Payout = instructionOf()) => {
  const settingsOf = async () => ({ url, secret: SECRET })
  return httpPayouts(wiringOf({ settingsOf })).pay(instruction)
}

/** The published code of the fault that a submission or a payment ends in. */
export const faultOf = async (asking: Promise<unknown>): Promise<number> => {
  const fault = await asking.then(
    (result) => Promise.reject(new Error(`No fault: ${JSON.stringify(result)}`)),
    (error: unknown) => error,
  )
  if (!(fault instanceof ConnectorFault)) throw fault
  return fault.code
}

type Asked = { method: string; path: string; headers: Record<string, unknown>; body: string }

const AMOUNTS = { submissions: '100.00', settlements: '49250.75' }

/** The reply to a request, with the uuid and the amount that the request is about. */
export const filled = (reply: string | Buffer, { method, path, body }: Omit<Asked, 'headers'>) => {
  if (typeof reply !== 'string') return reply
  const [kind = '', uuid = ''] = path.split('/').slice(2)
  const about =
    method === 'POST' ? JSON.parse(body) : { uuid, amount: AMOUNTS[kind as keyof typeof AMOUNTS] }
  return reply.replaceAll('$UUID', about.uuid).replaceAll('$AMOUNT', about.amount)
}

/** A bank that gives the same reply to every request, and the requests that it received. */
export const saying = async (status: number, body: string | Buffer, headers = {}) => {
  const asked: Asked[] = []
  const url = await receiver(async (request, response) => {
    const { method = '', url: path = '' } = request
    const one = { method, path, headers: request.headers, body: await text(request) }
    asked.push(one)
    response.writeHead(status, headers).end(filled(body, one))
  })
  return { url, asked, methods: () => asked.map(({ method }) => method) }
}
