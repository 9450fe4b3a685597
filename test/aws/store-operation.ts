import type { Random } from './random.ts'
import { type Operation, TABLE } from './random-operation.ts'
import { collectionOperation, isNew, put, remove, TIMES } from './store-collection.ts'

/** Generates the store's writes (shared/store) about a few debits. */

const TableName = TABLE
const STATUSES = ['pending', 'processing', 'completed', 'failed']

const debitKey = (random: Random) => ({ pk: `DEBIT#R${random.below(3)}`, sk: 'DEBIT' })
const dayKey = { pk: 'PROVIDER#p', sk: 'DAY#2026-11-21' }

const debitItem = (random: Random) => {
  const key = debitKey(random)
  return {
    ...key,
    entity: 'debit',
    byStatus: 'p#pending',
    byCustomer: 'bank#+233',
    byTime: `${TIMES[0]}#${key.pk}`,
    work: `WATCH#${random.below(2)}`,
    due: random.pick(TIMES),
    amount: 100 + random.below(3),
    metadata: undefined,
    bank: { identifier: 'gcb', name: null, codes: [1, 2] },
    status: 'pending',
    version: 1,
    history: [{ type: 'pending', at: 1_000, by: 'p', rid: 'r' }],
  }
}

const dayTotal = (random: Random) => {
  const amount = random.pick([100, 200])
  return {
    TableName,
    Key: dayKey,
    UpdateExpression: 'SET expiresAt = :expires ADD amountTotal :amount',
    ConditionExpression: random.once(4)
      ? 'amountTotal <= :room'
      : 'attribute_not_exists(amountTotal) OR amountTotal <= :room',
    ExpressionAttributeValues: { ':amount': amount, ':room': 500 - amount, ':expires': 1_800 },
  }
}

const opening = (random: Random): Operation => {
  const Item = debitItem(random)
  const claim = { pk: `PROVIDER#p#${random.below(4)}`, sk: 'PARTNER_REFERENCE', reference: Item.pk }
  const pointer = { ...Item.bank, metadata: undefined, pk: `UUID#${Item.pk}`, sk: 'UUID' }
  return {
    command: 'TransactWriteCommand',
    input: {
      ClientRequestToken: `open-${random.below(1_000_000)}`,
      TransactItems: [
        { Put: { TableName, Item, ...isNew } },
        { Put: { TableName, Item: claim, ...isNew } },
        { Put: { TableName, Item: pointer, ...isNew } },
        ...(random.once(3) ? [] : [{ Update: dayTotal(random) }]),
      ],
    },
  }
}

const move = (random: Random) => {
  const isOpen = random.once(2)
  const isApproved = random.once(3)
  const to = random.pick(STATUSES)
  const current = random.pick([1, 1, 2])
  return {
    TableName,
    Key: debitKey(random),
    UpdateExpression: [
      'SET #status = :to, #version = :next, byStatus = :list',
      '#history = list_append(#history, :entries)',
      ...(isOpen ? [] : ['#work = :work, due = :due']),
      ...(isApproved ? ['approval = :approval'] : []),
    ].join(', '),
    ConditionExpression: '#status = :from AND #version = :current',
    ExpressionAttributeNames: {
      '#status': 'status',
      '#version': 'version',
      '#history': 'history',
      ...(isOpen ? {} : { '#work': 'work' }),
    },
    ExpressionAttributeValues: {
      ':from': current === 1 ? 'pending' : random.pick(STATUSES.slice(0, 2)),
      ':current': current,
      ':to': to,
      ':next': current + 1,
      ':list': `p#${to}`,
      ...(isOpen ? {} : { ':work': 'SETTLE#p', ':due': random.pick(TIMES) }),
      ':entries': [{ type: to, set: { metadata: undefined, fee: random.below(3) } }],
      ...(isApproved ? { ':approval': { at: 2_000, by: 'x', rid: 'y' } } : {}),
    },
  }
}

const moveAlone = (random: Random): Operation => ({
  command: 'UpdateCommand',
  input: { ...move(random), ReturnValues: 'ALL_NEW' },
})

const transaction = (...TransactItems: object[]): Operation => ({
  command: 'TransactWriteCommand',
  input: { TransactItems },
})

const dayReturn = {
  TableName,
  Key: dayKey,
  UpdateExpression: 'ADD amountTotal :back',
  ConditionExpression: 'amountTotal >= :amount',
  ExpressionAttributeValues: { ':back': -100, ':amount': 100 },
}

const failure = (random: Random): Operation =>
  transaction({ Update: move(random) }, { Update: dayReturn })

const batchKey = (random: Random) => ({ pk: `BATCH#B${random.below(2)}`, sk: 'BATCH' })

const batchItem = (random: Random) => ({
  ...batchKey(random),
  entity: 'batch',
  byStatus: 'p#settlements',
  byTime: `2026-11-21#${random.below(2)}`,
  ...(random.once(2) ? { work: 'PAY', due: random.pick(TIMES) } : {}),
  version: random.below(3),
  sealedAt: random.once(3) ? TIMES[1] : null,
  totals: random.once(2) ? { net: -5, count: 1 } : null,
})

const ifVersion = (version: number) => ({
  ConditionExpression: '#version = :before',
  ExpressionAttributeNames: { '#version': 'version' },
  ExpressionAttributeValues: { ':before': version },
})

const putBatch = (random: Random): Operation => {
  const condition = random.once(2) ? isNew : ifVersion(random.below(3))
  return put({ Item: batchItem(random), ...condition })
}

const mark = (random: Random) => {
  const name = random.pick(['settledIn', 'adjustedIn'])
  const isFresh = random.once(2)
  const version = 1 + random.below(2)
  return {
    TableName,
    Key: debitKey(random),
    UpdateExpression: `SET ${name} = :batch, #version = :next${
      isFresh ? ', #work = :work, due = :due' : ' REMOVE #work, due'
    }`,
    ConditionExpression: `#status = :status AND #version = :version AND attribute_not_exists(${name})`,
    ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#work': 'work' },
    ExpressionAttributeValues: {
      ':batch': 'B0',
      ':status': random.pick(STATUSES),
      ':version': version,
      ':next': version + 1,
      ...(isFresh ? { ':work': 'WATCH#1', ':due': random.pick(TIMES) } : {}),
    },
  }
}

const addLine = (random: Random): Operation => {
  const { pk } = batchKey(random)
  const line = { pk, sk: `DEBIT#R${random.below(3)}`, entity: 'line', completedAt: TIMES[0] }
  const stillOpen = {
    ConditionCheck: {
      TableName,
      Key: { pk, sk: 'BATCH' },
      ConditionExpression: 'sealedAt = :not',
      ExpressionAttributeValues: { ':not': null },
    },
  }
  const putLine = { Put: { TableName, Item: line, ...isNew } }
  return transaction(stillOpen, putLine, { Update: mark(random) })
}

const KINDS: readonly ((random: Random) => Operation)[] = [
  opening,
  moveAlone,
  moveAlone,
  failure,
  putBatch,
  addLine,
  // Deletes items, or soon every creation would fail.
  (random) => remove({ Key: debitKey(random) }),
  (random) => remove({ Key: { pk: `PROVIDER#p#${random.below(4)}`, sk: 'PARTNER_REFERENCE' } }),
  (random) => remove({ Key: { pk: `UUID#DEBIT#R${random.below(3)}`, sk: 'UUID' } }),
  (random) => remove({ Key: random.once(2) ? dayKey : batchKey(random) }),
  ...Array.from({ length: 6 }, () => collectionOperation),
]

export const storeOperation = (random: Random): Operation => random.pick(KINDS)(random)
