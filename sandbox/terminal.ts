import { styleText } from 'node:util'
import type { DynamoDBRecord } from 'aws-lambda'
import type { GatewayReply } from './gateway.ts'
import { firstCharge } from './pages/start-page.ts'
import { credentials, customers } from './seeds.ts'

export type Print = (line: string) => void

/** Returns a line with the time and the kind of the event. */
const lineOf = (kind: string, parts: readonly unknown[], colour: 'cyan' | 'red' = 'cyan') => {
  const time = styleText('dim', new Date().toISOString().slice(11, 23))
  return [time, styleText(colour, kind.padEnd(8)), ...parts].join(' ')
}

const statusColour = (status: number) => (status < 300 ? 'green' : status < 500 ? 'yellow' : 'red')

const referenceIn = (body: string): string => /"reference":"([A-Z0-9-]+)"/.exec(body)?.[1] ?? ''

export const requestLine = ({ method, path, status, milliseconds, body }: GatewayReply): string =>
  lineOf('request', [
    method,
    path,
    styleText(statusColour(status), String(status)),
    `${milliseconds.toFixed(0)} ms`,
    path.includes(referenceIn(body)) ? '' : referenceIn(body),
  ])

const EVENT_COLOURS: Record<string, 'green' | 'red' | 'magenta'> = {
  completed: 'green',
  failed: 'red',
}

type ItemImage = NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['NewImage']>

const eventLines = (item: ItemImage, previousCount: number): string[] =>
  (item.history?.L ?? []).slice(previousCount).map((entry) => {
    const type = entry.M?.type?.S ?? ''
    const coloured = styleText(EVENT_COLOURS[type] ?? 'magenta', type)
    return lineOf('event', [item.reference?.S, coloured, item.provider?.S])
  })

const DELIVERY_COLOURS: Record<string, 'green' | 'red' | 'yellow'> = {
  delivered: 'green',
  abandoned: 'red',
}

const deliveryLine = (item: ItemImage): string => {
  const status = item.status?.S ?? ''
  const next = item.nextAttemptAt?.S
  return lineOf('delivery', [
    item.reference?.S,
    item.event?.S,
    `attempt ${item.attemptCount?.N} of ${item.attemptsMax?.N}`,
    styleText(DELIVERY_COLOURS[status] ?? 'yellow', status),
    item.last?.M?.responseCode?.N ?? item.last?.M?.cause?.S ?? '',
    next ? `next at ${next.slice(11, 19)}` : '',
  ])
}

export const changeLines = ({ dynamodb }: DynamoDBRecord): string[] => {
  const item = dynamodb?.NewImage
  switch (item?.entity?.S) {
    case 'debit':
      return eventLines(item, dynamodb?.OldImage?.history?.L?.length ?? 0)
    case 'delivery':
      return [deliveryLine(item)]
    default:
      return []
  }
}

export const faultLine = (name: string, error: unknown): string =>
  lineOf('fault', [name, error], 'red')

const columns = (title: string, rows: readonly (readonly [string, string])[]): string =>
  rows
    .map(([name, meaning], index) =>
      `  ${(index === 0 ? title : '').padEnd(12)}${name.padEnd(20)}${meaning}`.trimEnd(),
    )
    .join('\n')

export const welcome = (address: string, timeScale: number): string => `
  Debit collection sandbox ${timeScale === 1 ? '' : `(time scale ${timeScale})`}

${columns(
  'keys',
  credentials.map(({ token, caller }) => [token, caller]),
)}

${columns(
  'customers',
  customers.map(({ phone, outcome }) => [phone, outcome]),
)}

  start page  ${address}
  console     ${address}/console
  reference   ${address}/docs

  A first charge:

${firstCharge(address).replaceAll(/^/gm, '  ')}
`
