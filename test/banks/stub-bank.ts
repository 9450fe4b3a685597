import { type ConnectorConfig, ConnectorFault } from '../../shared/banks/connector.ts'
import { httpConnector } from '../../shared/banks/http.ts'
import { httpPayments } from '../../shared/banks/http-payments.ts'
import type { Submission } from '../../shared/domain/debits/submission.ts'
import { type ReceivedRequest, received } from '../support/servers.ts'
import { receiver } from '../webhooks/http/servers.ts'
import { configOf, payoutOf, submissionOf } from './examples.ts'

/** A bank with fixed replies for the tests of connector http. */

export const SECRET = 'cs_secret_of_the_bank'
/** The fields that tie a reply to its request; the stub bank fills them in. */
export const ECHO = '"uuid":"$UUID","amount":"$AMOUNT"'
export const ACCEPTED = `{${ECHO},"status":"accepted","bank_reference":"HTB-1"}`
export const accepted = { kind: 'accepted', bankReference: 'HTB-1' }
export const PAID = `{${ECHO},"status":"paid","bank_reference":"HTB-1"}`
export const paid = { kind: 'paid', bankReference: 'HTB-1' }

const settingsAt = (url: string) => ({ settingsOf: async () => ({ url, secret: SECRET }) })

export const submit = (
  url: string,
  submission: Submission = submissionOf(),
  { mayPrompt = true, ...config }: Partial<ConnectorConfig> & { mayPrompt?: boolean } = {},
) =>
  httpConnector(configOf({ ...settingsAt(url), ...config })).submit(
    submission,
    async () => mayPrompt,
  )

export const queryOutcome = (url: string) =>
  httpConnector(configOf(settingsAt(url))).queryOutcome(submissionOf())

export const pay = (url: string, payout = payoutOf()) =>
  httpPayments(configOf(settingsAt(url))).pay(payout)

export const queryPayout = async (url: string) => {
  const { uuid, amount, account } = payoutOf()
  const payment = { kind: 'payout', bank: account.bank, uuid, amount } as const
  return httpPayments(configOf(settingsAt(url))).query?.(payment)
}

/** Returns the code of the fault that a request ends in. */
export const faultOf = async (request: Promise<unknown>): Promise<number> => {
  const fault = await request.then(
    (result) => Promise.reject(new Error(`No fault: ${JSON.stringify(result)}`)),
    (error: unknown) => error,
  )
  if (!(fault instanceof ConnectorFault)) throw fault
  return fault.code
}

const AMOUNTS = { submissions: '100.00', settlements: '49250.75' }

/** Fills the uuid and the amount of the request into a reply. */
const filled = (reply: string | Buffer, { method, path, body }: ReceivedRequest) => {
  if (typeof reply !== 'string') return reply
  const [kind = '', uuid = ''] = path.split('/').slice(2)
  const request =
    method === 'POST' ? JSON.parse(body) : { uuid, amount: AMOUNTS[kind as keyof typeof AMOUNTS] }
  return reply
    .replaceAll('$UUID', request.uuid)
    .replaceAll('$UPPER', request.uuid.toUpperCase())
    .replaceAll('$AMOUNT', request.amount)
}

/** Starts a bank with one reply to every request, or to every POST if queries get another status. */
export const bankReplying = async (
  status: number,
  body: string | Buffer,
  { headers = {}, queryStatus = status }: { headers?: object; queryStatus?: number } = {},
) => {
  const calls: ReceivedRequest[] = []
  const url = await receiver(async (request, response) => {
    const call = await received(request)
    calls.push(call)
    response
      .writeHead(call.method === 'GET' ? queryStatus : status, { ...headers })
      .end(filled(body, call))
  })
  return { url, calls, methods: () => calls.map(({ method }) => method) }
}
