import {
  type AttributeValue,
  DynamoDBClient,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'

/**
 * What stands in the table, read as it is written, in whole numbers of any size. Nothing here is
 * of the product, so what it is wrong about shows.
 */

type Item = Record<string, AttributeValue>

let client: DynamoDBClient | undefined

const dynamodb = (): DynamoDBClient => {
  client ??= new DynamoDBClient({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB as string })
  return client
}

const TableName = (): string => process.env.TABLE_NAME as string

const scan = async (): Promise<Item[]> => {
  const items: Item[] = []
  let ExclusiveStartKey: Item | undefined
  do {
    const page = await dynamodb().send(
      new ScanCommand({
        TableName: TableName(),
        ConsistentRead: true,
        ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}),
      }),
    )
    items.push(...(page.Items ?? []))
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey)
  return items
}

const text = (value: AttributeValue | undefined): string | undefined => value?.S
const whole = (value: AttributeValue | undefined): bigint | undefined =>
  value?.N === undefined ? undefined : BigInt(value.N)

const must = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('An item lacks what every one has')
  return value
}

export type RawDebit = {
  reference: string
  provider: string
  amount: bigint
  status: string
  completedAt: number | undefined
  bankFee: bigint | undefined
  settledIn: string | undefined
  adjustedIn: string | undefined
}

const rawDebit = (item: Item): RawDebit => {
  const raw: RawDebit = {
    reference: must(text(item.reference)),
    provider: must(text(item.provider)),
    amount: must(whole(item.amount)),
    status: must(text(item.status)),
    completedAt: undefined,
    bankFee: undefined,
    settledIn: text(item.settledIn),
    adjustedIn: text(item.adjustedIn),
  }
  let at = 0
  for (const { M: entry = {} } of item.history?.L ?? []) {
    // What an entry shares with the one before is left out, and no history runs backwards.
    at = Math.max(at, Number(entry.at?.N ?? 0))
    if (text(entry.type) === 'completed') raw.completedAt = at
    raw.bankFee = whole(entry.set?.M?.fee) ?? raw.bankFee
  }
  return raw
}

export type RawLine = {
  batch: string
  type: string
  reference: string
  gross: bigint
  fee: bigint
  net: bigint
  completedAt: number
}

const rawLine = (item: Item): RawLine => ({
  batch: must(text(item.pk)).replace('BATCH#', ''),
  type: must(text(item.type)),
  reference: must(text(item.reference)),
  gross: must(whole(item.gross)),
  fee: must(whole(item.fee)),
  net: must(whole(item.net)),
  completedAt: Date.parse(must(text(item.completedAt))),
})

const SUMS = ['count', 'debits', 'gross', 'fee', 'adjustments', 'net'] as const
export type RawTotals = Record<(typeof SUMS)[number], bigint>

export type RawBatch = {
  id: string
  uuid: string
  provider: string
  currency: string
  date: string
  n: bigint
  status: string
  isSealed: boolean
  totals: RawTotals | undefined
  paid: bigint | undefined
  outstanding: bigint
  offsets: { batch: string; amount: bigint }[]
  offsetBy: string | undefined
}

const rawBatch = (item: Item): RawBatch => ({
  id: must(text(item.id)),
  uuid: must(text(item.uuid)),
  provider: must(text(item.provider)),
  currency: must(text(item.currency)),
  date: must(text(item.date)),
  n: must(whole(item.n)),
  status: must(text(item.status)),
  isSealed: text(item.sealedAt) !== undefined,
  totals:
    item.totals?.M &&
    (Object.fromEntries(
      SUMS.map((name) => [name, must(whole(item.totals?.M?.[name]))]),
    ) as RawTotals),
  paid: whole(item.paid),
  outstanding: must(whole(item.outstanding)),
  offsets: (item.offsets?.L ?? []).map(({ M = {} }) => ({
    batch: must(text(M.batch)),
    amount: must(whole(M.amount)),
  })),
  offsetBy: text(item.offsetBy),
})

export type RawSchedule = {
  basisPoints: bigint
  fixed: bigint
  minimum: bigint | undefined
  maximum: bigint | undefined
}

const rawSchedule = (item: Item): RawSchedule | undefined => {
  const schedule = item.feeSchedule?.M
  return (
    schedule && {
      basisPoints: must(whole(schedule.basisPoints)),
      fixed: must(whole(schedule.fixed)),
      minimum: whole(schedule.minimum),
      maximum: whole(schedule.maximum),
    }
  )
}

export type Books = {
  debits: RawDebit[]
  lines: RawLine[]
  batches: RawBatch[]
  schedules: Map<string, RawSchedule | undefined>
}

/** All that the table says of these providers, and every line that says it is about their debits. */
export const readBooks = async (providers: readonly string[]): Promise<Books> => {
  const items = await scan()
  const of = (entity: string) => items.filter((item) => text(item.entity) === entity)
  const ours = <T extends { provider: string }>(all: T[]) =>
    all.filter(({ provider }) => providers.includes(provider))
  const debits = ours(of('debit').map(rawDebit))
  const batches = ours(of('batch').map(rawBatch))
  const names = new Set([
    ...debits.map(({ reference }) => reference),
    ...batches.map(({ id }) => id),
  ])
  return {
    debits,
    batches,
    lines: of('line')
      .map(rawLine)
      .filter(({ reference, batch }) => names.has(reference) || names.has(batch)),
    schedules: new Map(of('provider').map((item) => [must(text(item.id)), rawSchedule(item)])),
  }
}

/** Lines and totals of the provider's sealed batches that are summed, by batch, to the byte. */
export const sealedBytes = async (provider: string): Promise<Map<string, string>> => {
  const { Items: listed = [] } = await dynamodb().send(
    new QueryCommand({
      TableName: TableName(),
      IndexName: 'by-status',
      KeyConditionExpression: 'byStatus = :list',
      ExpressionAttributeValues: { ':list': { S: `${provider}#settlements` } },
    }),
  )
  const bytes = await Promise.all(
    listed.map(async ({ pk = { S: '' } }) => {
      const { Items = [] } = await dynamodb().send(
        new QueryCommand({
          TableName: TableName(),
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': pk },
          ConsistentRead: true,
        }),
      )
      const [header] = Items.filter((item) => text(item.entity) === 'batch')
      const lines = Items.filter((item) => text(item.entity) === 'line')
      const kept = [header?.id, header?.provider, header?.date, header?.n, header?.sealedAt]
      const said = header?.totals?.M ? JSON.stringify([kept, header.totals, lines]) : ''
      return [must(pk.S), said] as const
    }),
  )
  return new Map(bytes.filter(([, said]) => said !== ''))
}
