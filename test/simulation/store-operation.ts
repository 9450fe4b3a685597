import type { Chance } from './chance.ts'
import { type Operation, TABLE } from './operation.ts'
import { collectionOperation } from './store-collection.ts'

/** The writes of the store (shared/store), with its expressions, about a few debits. */

const TableName = TABLE
const STATUSES = ['pending', 'processing', 'completed', 'failed']
const TIMES = ['2026-11-21T10:00:00.000Z', '2026-11-21T10:00:01.000Z', '2026-11-22T00:00:00.000Z']
const isNew = { ConditionExpression: 'attribute_not_exists(pk)' }

const debitKey = (chance: Chance) => ({ pk: `DEBIT#R${chance.below(3)}`, sk: 'DEBIT' })
const dayKey = { pk: 'PROVIDER#p', sk: 'DAY#2026-11-21' }

const debitItem = (chance: Chance) => {
  const key = debitKey(chance)
  return {
    ...key,
    entity: 'debit',
    byStatus: 'p#pending',
    byCustomer: 'bank#+233',
    byTime: `${TIMES[0]}#${key.pk}`,
    work: `WATCH#${chance.below(2)}`,
    due: chance.pick(TIMES),
    amount: 100 + chance.below(3),
    metadata: undefined,
    bank: { identifier: 'gcb', name: null, codes: [1, 2] },
    status: 'pending',
    version: 1,
    history: [{ type: 'pending', at: 1_000, by: 'p', rid: 'r' }],
  }
}

const dayTotal = (chance: Chance) => {
  const amount = chance.pick([100, 200])
  return {
    TableName,
    Key: dayKey,
    UpdateExpression: 'SET expiresAt = :expires ADD amountTotal :amount',
    ConditionExpression: chance.once(4)
      ? 'amountTotal <= :room'
      : 'attribute_not_exists(amountTotal) OR amountTotal <= :room',
    ExpressionAttributeValues: { ':amount': amount, ':room': 500 - amount, ':expires': 1_800 },
  }
}

const opening = (chance: Chance): Operation => {
  const Item = debitItem(chance)
  const claim = { pk: `PROVIDER#p#${chance.below(4)}`, sk: 'PARTNER_REFERENCE', reference: Item.pk }
  const pointer = { ...Item.bank, metadata: undefined, pk: `UUID#${Item.pk}`, sk: 'UUID' }
  return {
    command: 'TransactWriteCommand',
    input: {
      ClientRequestToken: `open-${chance.below(1_000_000)}`,
      TransactItems: [
        { Put: { TableName, Item, ...isNew } },
        { Put: { TableName, Item: claim, ...isNew } },
        { Put: { TableName, Item: pointer, ...isNew } },
        ...(chance.once(3) ? [] : [{ Update: dayTotal(chance) }]),
      ],
    },
  }
}

const move = (chance: Chance) => {
  const isOpen = chance.once(2)
  const isApproved = chance.once(3)
  const to = chance.pick(STATUSES)
  const current = chance.pick([1, 1, 2])
  return {
    TableName,
    Key: debitKey(chance),
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
      ':from': current === 1 ? 'pending' : chance.pick(STATUSES.slice(0, 2)),
      ':current': current,
      ':to': to,
      ':next': current + 1,
      ':list': `p#${to}`,
      ...(isOpen ? {} : { ':work': 'SETTLE#p', ':due': chance.pick(TIMES) }),
      ':entries': [{ type: to, set: { metadata: undefined, fee: chance.below(3) } }],
      ...(isApproved ? { ':approval': { at: 2_000, by: 'x', rid: 'y' } } : {}),
    },
  }
}

const failure = (chance: Chance): Operation => ({
  command: 'TransactWriteCommand',
  input: {
    TransactItems: [
      { Update: move(chance) },
      {
        Update: {
          TableName,
          Key: dayKey,
          UpdateExpression: 'ADD amountTotal :back',
          ConditionExpression: 'amountTotal >= :amount',
          ExpressionAttributeValues: { ':back': -100, ':amount': 100 },
        },
      },
    ],
  },
})

const batchKey = (chance: Chance) => ({ pk: `BATCH#B${chance.below(2)}`, sk: 'BATCH' })

const batchItem = (chance: Chance) => ({
  ...batchKey(chance),
  entity: 'batch',
  byStatus: 'p#settlements',
  byTime: `2026-11-21#${chance.below(2)}`,
  ...(chance.once(2) ? { work: 'PAY', due: chance.pick(TIMES) } : {}),
  version: chance.below(3),
  sealedAt: chance.once(3) ? TIMES[1] : null,
  totals: chance.once(2) ? { net: -5, count: 1 } : null,
})

const putBatch = (chance: Chance): Operation => ({
  command: 'PutCommand',
  input: {
    TableName,
    Item: batchItem(chance),
    ...(chance.once(2)
      ? isNew
      : {
          ConditionExpression: '#version = :before',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':before': chance.below(3) },
        }),
  },
})

const mark = (chance: Chance) => {
  const name = chance.pick(['settledIn', 'adjustedIn'])
  const isFresh = chance.once(2)
  const version = 1 + chance.below(2)
  return {
    TableName,
    Key: debitKey(chance),
    UpdateExpression: `SET ${name} = :batch, #version = :next${
      isFresh ? ', #work = :work, due = :due' : ' REMOVE #work, due'
    }`,
    ConditionExpression: `#status = :status AND #version = :version AND attribute_not_exists(${name})`,
    ExpressionAttributeNames: { '#status': 'status', '#version': 'version', '#work': 'work' },
    ExpressionAttributeValues: {
      ':batch': 'B0',
      ':status': chance.pick(STATUSES),
      ':version': version,
      ':next': version + 1,
      ...(isFresh ? { ':work': 'WATCH#1', ':due': chance.pick(TIMES) } : {}),
    },
  }
}

const addLine = (chance: Chance): Operation => {
  const { pk } = batchKey(chance)
  const line = { pk, sk: `DEBIT#R${chance.below(3)}`, entity: 'line', completedAt: TIMES[0] }
  const stillOpen = {
    ConditionCheck: {
      TableName,
      Key: { pk, sk: 'BATCH' },
      ConditionExpression: 'sealedAt = :not',
      ExpressionAttributeValues: { ':not': null },
    },
  }
  const TransactItems = [
    stillOpen,
    { Put: { TableName, Item: line, ...isNew } },
    { Update: mark(chance) },
  ]
  return { command: 'TransactWriteCommand', input: { TransactItems } }
}

const KINDS: readonly ((chance: Chance) => Operation)[] = [
  opening,
  (chance) => ({ command: 'UpdateCommand', input: { ...move(chance), ReturnValues: 'ALL_NEW' } }),
  (chance) => ({ command: 'UpdateCommand', input: { ...move(chance), ReturnValues: 'ALL_NEW' } }),
  failure,
  putBatch,
  addLine,
  // What was opened is taken away again, or soon nothing could be opened any more.
  (chance) => away(debitKey(chance)),
  (chance) => away({ pk: `PROVIDER#p#${chance.below(4)}`, sk: 'PARTNER_REFERENCE' }),
  (chance) => away({ pk: `UUID#DEBIT#R${chance.below(3)}`, sk: 'UUID' }),
  (chance) => away(chance.once(2) ? dayKey : batchKey(chance)),
  ...Array.from({ length: 6 }, () => collectionOperation),
]

const away = (Key: object): Operation => ({ command: 'DeleteCommand', input: { TableName, Key } })

export const storeOperation = (chance: Chance): Operation => chance.pick(KINDS)(chance)
