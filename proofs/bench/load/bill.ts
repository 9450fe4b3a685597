import { sumOf, type Usage } from './usage.ts'

/** Bills: list prices in eu-west-1, November 2025, in US dollars. */

const PRICES = {
  apiRequest: 3.5e-6,
  wafRequest: 0.6e-6,
  invocation: 0.2e-6,
  gigabyteSecond: 13.3334e-6,
  writeUnit: 0.705e-6,
  readUnit: 0.141e-6,
  sqsRequest: 0.4e-6,
  schedulerInvocation: 1e-6,
  loggedByte: 0.57e-9,
  sentByte: 0.09e-9,
  storedByteMonth: 0.283e-9,
  /** Point-in-time recovery. */
  backedUpByteMonth: 0.226e-9,
} as const

/** The charge, and the report of a bank with its own endpoint. */
const API_REQUESTS = 2

export type Quantities = Usage & { schedulerInvocations: number }

/** @param debits usage per debit, by function; each fired timeout is also a request to SQS */
export const quantitiesOf = (usages: Iterable<Usage>, schedulerInvocations: number): Quantities => {
  const sum = sumOf(usages)
  return { ...sum, sqs: sum.sqs + schedulerInvocations, schedulerInvocations }
}

type BillRow = { label: string; quantity: number; dollars: number }

/** Returns the bill of a number of equal debits, without Lambda's time. */
export const billOf = (quantities: Quantities, debits: number): BillRow[] =>
  (
    [
      ['API Gateway requests', API_REQUESTS, PRICES.apiRequest],
      ['WAF requests', API_REQUESTS, PRICES.wafRequest],
      ['Lambda invocations', quantities.invocations, PRICES.invocation],
      ['DynamoDB write units', quantities.written, PRICES.writeUnit],
      ['DynamoDB read units', quantities.read, PRICES.readUnit],
      ['SQS requests', quantities.sqs, PRICES.sqsRequest],
      ['Scheduler invocations', quantities.schedulerInvocations, PRICES.schedulerInvocation],
      ['CloudWatch Logs, bytes', quantities.logged, PRICES.loggedByte],
      ['data out, bytes', quantities.sent, PRICES.sentByte],
    ] as const
  ).map(([label, quantity, price]) => ({ label, quantity, dollars: quantity * price * debits }))

export const lambdaTimeOf = ({ gigabyteSeconds }: Usage, debits: number): number =>
  gigabyteSeconds * PRICES.gigabyteSecond * debits

/** @param bytes stored for a month, with point-in-time recovery */
export const storageOf = (bytes: number): number =>
  bytes * (PRICES.storedByteMonth + PRICES.backedUpByteMonth)

export const dollarsOf = (rows: readonly BillRow[]): number =>
  rows.reduce((sum, { dollars }) => sum + dollars, 0)

/** Returns the price of a function's usage, with Lambda's time and without requests of the API. */
export const priceOf = (usage: Usage): number =>
  usage.invocations * PRICES.invocation +
  usage.gigabyteSeconds * PRICES.gigabyteSecond +
  usage.written * PRICES.writeUnit +
  usage.read * PRICES.readUnit +
  usage.sqs * PRICES.sqsRequest +
  usage.logged * PRICES.loggedByte

export const emptyReceives = (count: number): number => count * PRICES.sqsRequest
