import { type OperationName, operations } from '../../shared/api/operations.ts'
import { allOf, type Permissions } from './permission-types.ts'

/** Permissions that several functions share, by what the functions do. */

/** Reads the caller, counts requests and failed credentials, and verifies a provider's signature. */
export const caller = (name: OperationName): Permissions => ({
  items: {
    GetItem: ['CREDENTIAL#*', 'PROVIDER#*', 'BANKS'],
    UpdateItem: [`WINDOW#${name}#*`, 'WINDOW#address#*'],
  },
  ...(operations[name].caller === 'provider' ? { sealingKey: true } : {}),
})

/** Reads the generation of what is written, and what is held. */
const restored: Permissions = { items: { GetItem: ['RESTORE'] } }

const moves = allOf(restored, {
  items: { GetItem: ['DEBIT#*'], UpdateItem: ['DEBIT#*'] },
})

/** Stores calls that need an approval, and carries out granted ones. */
export const requestsApprovals: Permissions = {
  items: {
    GetItem: ['APPROVALS'],
    PutItem: ['APPROVALS', 'CHANGES'],
    UpdateItem: ['APPROVALS'],
  },
}

/** One that fails gives its amount back to its day. */
export const movesAndFails = allOf(moves, { items: { UpdateItem: ['PROVIDER#*'] } })

/** Asks the bank for the outcome before a timeout fails a debit. */
export const expires = allOf(movesAndFails, {
  items: { GetItem: ['BANKS', 'BANK#*'] },
  sealingKey: true,
})

export const bankReports = allOf(movesAndFails, {
  items: { GetItem: ['UUID#*'], PutItem: ['DEBIT#*'] },
})

/** Attempts at events of debits and batches, and the health of the webhook. */
export const delivers: Permissions = {
  items: {
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    GetItem: ['DEBIT#*', 'PROVIDER#*'],
    PutItem: ['DEBIT#*', 'PROVIDER#*'],
  },
  sealingKey: true,
}

export const redelivers: Permissions = {
  items: {
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    GetItem: ['DEBIT#*', 'PROVIDER#*'],
    PutItem: ['DEBIT#*'],
  },
}

export const appendsToFeed = allOf(restored, {
  items: { Query: ['FEED#*'], PutItem: ['FEED#*'], UpdateItem: ['FEED#*'] },
})

export const buildsBatches = allOf(restored, {
  items: {
    GetItem: ['PROVIDER#*', 'BATCH#*', 'SWEEP'],
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    Query: ['BATCH#*'],
    PutItem: ['BATCH#*'],
    UpdateItem: ['DEBIT#*', 'BUILD#*'],
    DeleteItem: ['BUILD#*'],
    ConditionCheckItem: ['BATCH#*'],
  },
  lists: { 'by-status': ['*#settlements'], work: ['SETTLE#*'] },
})

export const paysBatches = allOf(restored, {
  items: {
    GetItem: ['BATCH#*', 'PROVIDER#*', 'BANKS', 'BANK#*', 'FUNDS'],
    BatchGetItem: ['BATCH#*'],
    PutItem: ['BATCH#*'],
    UpdateItem: ['FUNDS'],
  },
  lists: { work: ['BELOW_ZERO#*'] },
  sealingKey: true,
})

export const byStatus = ['*#pending', '*#processing', '*#completed', '*#failed', '*#reversed']

/** Derives the ledger of a day from what is stored. */
export const derivesLedger: Permissions = {
  items: {
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    Query: ['BATCH#*', 'CHANGES', 'DEBIT#*', 'FUNDING', 'LEDGER'],
  },
  lists: {
    'by-status': ['*#settlements', 'PROVIDERS', 'EXCEPTIONS#*', 'REFUNDS#*'],
    work: ['SETTLE#*'],
  },
}

export const reconciles = allOf(derivesLedger, {
  items: {
    GetItem: ['PROVIDER#*', 'FUNDS', 'RESTORE'],
    BatchGetItem: ['UUID#*', 'PROVIDER#*#*'],
    Query: ['FEED#*'],
    PutItem: ['LEDGER'],
  },
  lists: { 'by-status': byStatus, work: ['PAY', 'FAILED', 'BELOW_ZERO#*'] },
})
