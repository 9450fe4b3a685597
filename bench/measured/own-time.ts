import { bareClient, sendBarely } from '../bare.ts'
import { commandOf, documentSender } from '../documents.ts'
import { beside, type Figure } from '../figures.ts'
import { openGround, setEnvironment } from '../ground.ts'
import type { Measure, Options } from '../part.ts'
import { profiled } from '../profile.ts'
import { asked, chargeEvents, hurriedClock, sampleEvent } from '../requests.ts'
import { cpuEach, inTurns, type Sample, type Work } from '../samples.ts'
import { type Call, callOf, recordCalls, tapWire, type WireRequest, wireReply } from '../wire.ts'

/**
 * What a request costs this process without the network: with the client's `send` answered at once,
 * which leaves what is not the AWS SDK's; and with the last step of the client answered at once, beside the
 * same calls of a bare client, which adds what the SDK makes of them.
 */

const REQUESTS = 4_000
const REQUESTS_WIRED = 1_000
const EVENTS = 1_000

setEnvironment()
const { charge } = await import('../../functions/provider/charge.ts')
const { getDebitRequest } = await import('../../functions/provider/get-debit-request.ts')
const { table } = await import('../../shared/store/table.ts')

/** Both functions, warm, and the calls that one request makes of each. */
const warmed = async () => {
  const event = await chargeEvents()
  const chargeHandler = charge(hurriedClock())
  const charged = await asked(chargeHandler, event('first'), 202)
  const { reference } = JSON.parse(charged.body).data
  const statusEvent = { ...(await sampleEvent('get-debit-request')), pathParameters: { reference } }
  const statusHandler = getDebitRequest(hurriedClock())
  // Made before, as they are API Gateway's work.
  const events = Array.from({ length: EVENTS }, (_, n) => event(`order-2026-11-21-${n}`))
  const works: Record<'charge' | 'status', Work> = {
    charge: (n) => asked(chargeHandler, { ...(events[n % EVENTS] ?? event('')) }, 202),
    status: () => asked(statusHandler, statusEvent, 200),
  }
  await works.status(0)
  return { works, reference }
}

const REQUESTS_RECORDED = 50

/** The calls of several requests: text that was seen before costs the client less. */
const callsOf = async (work: Work): Promise<Call[][]> => {
  const sets: Call[][] = []
  for (let n = 0; n < REQUESTS_RECORDED; n += 1) sets.push(await recordCalls(() => work(n)))
  return sets
}

type Command = { constructor: { name: string } }

/** Each command is answered before anything is made of it. */
const answerSends = async (reference: string): Promise<void> => {
  const { keys } = await import('../../shared/store/keys.ts')
  const { read } = await import('../../shared/store/table.ts')
  const Item = await read(keys.debit(reference as Parameters<typeof keys.debit>[0]))
  const replies: Record<string, unknown> = {
    GetCommand: { Item },
    UpdateCommand: { Attributes: { requests: 1 } },
    TransactWriteCommand: {},
  }
  const answered = Promise.resolve.bind(Promise)
  const open = table as unknown as { send: (command: Command) => Promise<unknown> }
  open.send = (command) => answered(replies[command.constructor.name])
}

const replyTo = (item: object) => async (request: WireRequest) => {
  const replies: Record<string, object> = {
    GetItem: item,
    UpdateItem: { Attributes: { requests: { N: '1' } } },
    TransactWriteItems: {},
  }
  const name = request.headers['x-amz-target']?.split('.').at(-1) ?? ''
  return wireReply(replies[name] ?? {})
}

/** The same calls by a bare client, one after the other, as answers come at once. */
const bareWork = (sets: readonly Call[][], reply: ReturnType<typeof replyTo>): Work => {
  const client = bareClient()
  Object.assign(client.config.requestHandler, { handle: reply })
  return async (n) => {
    for (const call of sets[n % sets.length] ?? []) await sendBarely(client, call)
  }
}

/** The same by the SDK's document client, which is what the product has. */
const documentWork = (sets: readonly Call[][], reply: ReturnType<typeof replyTo>): Work => {
  const send = documentSender(reply)
  const commands = sets.map((calls) => calls.map(commandOf))
  return async (n) => {
    for (const command of commands[n % sets.length] ?? []) await send(command)
  }
}

const shareLines = (name: string, cost: number, shares: Map<string, number>): string[] => [
  '',
  `Where the ${cost.toFixed(0)} µs of a ${name} go, by profile:`,
  '',
  '| | µs |',
  '|---|--:|',
  ...[...shares].map(([owner, share]) => `| ${owner} | ${(share * cost).toFixed(1)} |`),
]

const alone = (samples: readonly Sample[]): Figure => {
  const { own } = beside(samples, samples, cpuEach)
  return { own }
}

export const measure: Measure = async ({ rounds, short }: Options) => {
  const ground = await openGround()
  try {
    const { works, reference } = await warmed()
    const calls = { charge: await callsOf(works.charge), status: await callsOf(works.status) }
    const stored = await storedDebit(works.status)
    const reply = replyTo(stored)
    const wired = { rounds: rounds + 1, count: REQUESTS_WIRED, chunk: 250, together: 1 }
    const untap = tapWire(reply)
    const onWire = await inTurns(
      {
        ...works,
        bareCharge: bareWork(calls.charge, reply),
        bareStatus: bareWork(calls.status, reply),
        documentCharge: documentWork(calls.charge, reply),
        documentStatus: documentWork(calls.status, reply),
      },
      wired,
    )
    untap()
    await answerSends(reference)
    const count = short ? REQUESTS / 2 : REQUESTS
    await inTurns(works, { rounds: 1, count: REQUESTS, chunk: REQUESTS, together: 1 })
    const own = await inTurns(works, { rounds, count, chunk: count, together: 1 })
    const warm = <T>([, ...later]: T[]): T[] => later
    const wire = (own: Sample[], base: Sample[]) => beside(warm(own), warm(base), cpuEach)
    const figures = {
      'own time charge': alone(own.charge),
      'own time status': alone(own.status),
      'wire charge': wire(onWire.charge, onWire.bareCharge),
      'wire charge documents': wire(onWire.charge, onWire.documentCharge),
      'wire status': wire(onWire.status, onWire.bareStatus),
      'wire status documents': wire(onWire.status, onWire.documentStatus),
    }
    const shares = async (name: 'charge' | 'status') => {
      const share = await profiled(async () => {
        for (let n = 0; n < count * 2; n += 1) await works[name](n)
      })
      return shareLines(name, figures[`own time ${name}`].own, share)
    }
    return { figures, notes: [...(await shares('charge')), ...(await shares('status'))] }
  } finally {
    await ground.stop()
  }
}

/** The reply that a status read gets, as it comes over the wire. */
const storedDebit = async (read: Work): Promise<object> => {
  let found: object | undefined
  const untap = tapWire(async (request, onwards) => {
    const handled = await onwards()
    if (callOf(request).operation !== 'GetItem') return handled
    const { body } = handled.response as { body: AsyncIterable<Uint8Array> }
    const parts = []
    for await (const part of body) parts.push(part)
    found = JSON.parse(Buffer.concat(parts).toString())
    return wireReply(found ?? {})
  })
  await read(0)
  untap()
  if (!found) throw new Error('A status reads nothing')
  return found
}
