import { type OperationName, operations } from '../../shared/api/operations.ts'
import { debitLists, keys } from '../../shared/store/keys.ts'
import { merge, type Permissions } from './permissions.ts'

/** Reads the caller, counts requests and failed credentials, and verifies a provider's signature. */
export const caller = (name: OperationName): Permissions => ({
  GetItem: ['CREDENTIAL#*', 'PROVIDER#*', 'BANKS'],
  UpdateItem: [`WINDOW#${name}#*`, 'WINDOW#address#*'],
  ...(operations[name].caller === 'provider' ? { sealingKey: true } : {}),
})

/** Reads the restore generation and the holds of a restore (docs/api.md#restores). */
const readsRestore: Permissions = { GetItem: ['RESTORE'] }

/** Stores calls that need an approval and executes approved ones. */
export const requestsApprovals: Permissions = {
  GetItem: ['APPROVALS'],
  PutItem: ['APPROVALS', 'CHANGES'],
  UpdateItem: ['APPROVALS'],
}

/** Stores the rows of a call about many objects, and their outcomes. */
export const worksInBulk: Permissions = {
  GetItem: ['BULK#*'],
  Query: ['BULK#*'],
  PutItem: ['BULK#*'],
}

/** Seals each secret again with the current key. */
export const resealsSecrets: Permissions = {
  GetItem: ['PROVIDER#*', 'WEBHOOK#*', 'BANK#*', 'APPROVALS', 'HASH_KEY'],
  Query: ['BANKS', 'APPROVALS'],
  PutItem: ['CHANGES'],
  UpdateItem: ['PROVIDER#*', 'WEBHOOK#*', 'BANK#*', 'APPROVALS', 'HASH_KEY'],
  'by-status': ['PROVIDERS'],
  sealingKey: true,
}

/** Changes debits; a failed debit also lowers the day total of its provider. */
export const transitionsDebits = merge(readsRestore, {
  GetItem: ['DEBIT#*'],
  UpdateItem: ['DEBIT#*', 'PROVIDER#*'],
})

export const appliesBankReports = merge(transitionsDebits, {
  Query: ['DEBIT#*'],
  PutItem: ['DEBIT#*'],
})

const queriesBanks: Permissions = {
  GetItem: ['BANKS', 'BANK#*'],
  sealingKey: true,
  calls: ['banks'],
}

/** Queries the bank for the outcome before a timeout fails a debit, and stores a late completion. */
export const expiresDebits = merge(appliesBankReports, queriesBanks, { Query: ['BANK_HEALTH'] })

/** Notes the replies and failures of banks. */
const notesHealth: Permissions = {
  GetItem: ['BANK_HEALTH'],
  Query: ['BANK_HEALTH'],
  PutItem: ['BANK_HEALTH'],
}

/** Submits debits, counts the prompts of their customers, and waits while their bank is down. */
export const submitsDebits = merge(expiresDebits, notesHealth, {
  GetItem: ['CUSTOMER#*'],
  Query: ['BANKS'],
  PutItem: ['WAITING#*'],
  'by-customer': ['*#+*'],
  sends: ['sandbox-outcomes'],
})

/** Delivers events of debits and batches, and updates the webhook's health. */
export const deliversWebhooks: Permissions = {
  BatchGetItem: ['BATCH#*'],
  GetItem: ['DEBIT#*', 'PROVIDER#*', 'WEBHOOK#*'],
  Query: ['DEBIT#*'],
  PutItem: ['DEBIT#*', 'PROVIDER#*'],
  sealingKey: true,
  calls: ['receivers'],
}

export const redeliversEvents: Permissions = {
  BatchGetItem: ['DEBIT#*', 'BATCH#*'],
  Query: ['DEBIT#*'],
  GetItem: ['DEBIT#*', 'PROVIDER#*', 'WEBHOOK#*'],
  PutItem: ['DEBIT#*'],
}

export const appendsToFeed = merge(readsRestore, {
  Query: ['FEED#*'],
  PutItem: ['FEED#*'],
  UpdateItem: ['FEED#*'],
})

/** Looks for the day on which the bank of a provider pays. */
export const findsPayoutDays: Permissions = { GetItem: ['PAYEE#*', 'BANKS', 'CALENDAR'] }

export const buildsBatches = merge(readsRestore, findsPayoutDays, {
  GetItem: ['PROVIDER#*', 'BATCH#*', 'BUILD#*', 'SWEEP'],
  BatchGetItem: ['DEBIT#*', 'BATCH#*'],
  Query: ['BATCH#*'],
  PutItem: ['BATCH#*', 'BUILD#*'],
  UpdateItem: ['DEBIT#*'],
  DeleteItem: ['BUILD#*'],
  ConditionCheckItem: ['BATCH#*'],
  'by-status': ['*#settlements'],
  work: ['SETTLE#*'],
})

export const paysBatches = merge(readsRestore, findsPayoutDays, queriesBanks, {
  GetItem: ['BATCH#*', 'PROVIDER#*', 'FUNDS'],
  BatchGetItem: ['BATCH#*'],
  PutItem: ['BATCH#*'],
  UpdateItem: ['FUNDS'],
  work: ['BELOW_ZERO#*'],
})

/** Sends refunds to the banks. */
export const refundsCustomers = merge(readsRestore, queriesBanks, {
  GetItem: ['DEBIT#*'],
  Query: ['DEBIT#*'],
  PutItem: ['DEBIT#*'],
})

/** The lists of debits; the sweep's progress says which of them are completed. */
export const readsOpenDebits: Permissions = {
  GetItem: ['SWEEP'],
  BatchGetItem: ['DEBIT#*'],
  'by-status': [keys.debits('*', 'main'), keys.debits('*', 'open')],
}

export const readsLists = merge(readsOpenDebits, {
  'by-status': debitLists.map((list) => keys.debits('*', list)),
})

/** Marks a debit, and stores its exception. */
export const requestsReversals: Permissions = {
  GetItem: ['DEBIT#*'],
  PutItem: ['DEBIT#*'],
  UpdateItem: ['DEBIT#*'],
}

/** Reverses debits, each after a repair of its events. */
export const reversesDebits = merge(appendsToFeed, requestsReversals, {
  GetItem: ['SWEEP', 'WEBHOOK#*'],
  Query: ['DEBIT#*'],
})

/** Records reads of customers' data. */
export const recordsAccesses: Permissions = {
  GetItem: ['HASH_KEY'],
  PutItem: ['ACCESSES', 'HASH_KEY'],
  BatchGetItem: ['DEBIT#*'],
  sealingKey: true,
}

/** Erases the customer from a debit and its items. */
export const erasesDebits: Permissions = {
  Query: ['DEBIT#*'],
  PutItem: ['DEBIT#*'],
  UpdateItem: ['DEBIT#*', 'PROVIDER#*#*'],
}

export const derivesLedger: Permissions = {
  BatchGetItem: ['DEBIT#*', 'BATCH#*'],
  Query: ['BATCH#*', 'CHANGES', 'DEBIT#*', 'FUNDING', 'LEDGER'],
  'by-status': ['*#settlements', 'EXCEPTIONS#*', 'REFUNDS#*'],
  work: ['SETTLE#*'],
}

/** Reads the ledger of a day, and what is open at its end. */
export const closesDays = merge(derivesLedger, findsPayoutDays, {
  Query: ['STATEMENTS'],
  'by-status': ['PROVIDERS'],
})

/** Starts a reconciliation: creates its run and its parts. */
export const startsReconciliation = merge(readsRestore, {
  GetItem: ['RECONCILIATION#*'],
  PutItem: ['RECONCILIATION#*'],
  Query: ['LEDGER'],
  'by-status': ['PROVIDERS'],
  work: ['PAY', 'FAILED'],
})

/** Reads the records that the audit seals. */
export const readsAuditedRecords = merge(derivesLedger, readsRestore, {
  GetItem: ['RECONCILIATION#*'],
  Query: ['ACCESSES', 'APPROVALS'],
  'by-status': [keys.providers],
  reports: ['read'],
  audit: ['read'],
})

/** Performs the parts of a reconciliation and ends it. */
export const reconciles = merge(derivesLedger, readsLists, readsRestore, {
  GetItem: ['PROVIDER#*', 'WEBHOOK#*', 'BATCH#*', 'FUNDS', 'RECONCILIATION#*'],
  BatchGetItem: ['PROVIDER#*#*'],
  Query: ['FEED#*', 'RECONCILIATION#*'],
  PutItem: ['LEDGER', 'RECONCILIATION#*'],
  UpdateItem: ['RECONCILIATION#*'],
  work: ['BELOW_ZERO#*'],
})

export const webhookQueues = ['webhooks-high', 'webhooks-medium', 'webhooks-low'] as const

/** Checks banks, debits and deliveries, and repairs what the stream lost. */
export const sweeps = merge(queriesBanks, appendsToFeed, notesHealth, erasesDebits, {
  GetItem: [
    'DEBIT#*',
    'PROVIDER#*',
    'WEBHOOK#*',
    'BATCH#*',
    'BUILD#*',
    'ERASURE#*',
    'RECONCILIATION#*',
    'SWEEP',
  ],
  Query: ['PROVIDER#*', 'WAITING#*', 'WINDOW#lookup-customer-banks#*'],
  DeleteItem: ['ERASURE#*', 'WAITING#*'],
  PutItem: ['SWEEP'],
  UpdateItem: ['PROVIDER#*', 'BATCH#*', 'BUILD#*', 'ERASURE#*', 'RECONCILIATION#*'],
  'by-status': [keys.providers, keys.debits('*', 'main')],
  work: ['WATCH#*', 'SETTLE#*'],
  sends: [
    'submissions',
    'expiries',
    ...webhookQueues,
    'recoveries',
    'settlements',
    'payments',
    'refunds',
    'reconciliation-parts',
  ],
})

/** Accounts of customers, their export and their erasure. */
export const servesCustomers = merge(requestsApprovals, worksInBulk, erasesDebits, {
  GetItem: ['BANKS', 'CUSTOMER#*', 'HASH_KEY', 'RESTORE'],
  BatchGetItem: ['ACCESSES', 'APPROVAL#*', 'CUSTOMER#*'],
  Query: ['APPROVALS', 'BANKS', 'CUSTOMER#*'],
  PutItem: ['ACCESSES', 'CUSTOMER#*', 'ERASURE#*', 'HASH_KEY', 'APPROVAL#*'],
  DeleteItem: ['CUSTOMER#*', 'APPROVAL#*', 'BULK#*'],
  customers: ['read', 'write'],
  'by-customer': ['*#+*', 'ACCESSES#*'],
  sealingKey: true,
})

/** Debits as operators read and change them. */
export const operatesDebits = merge(
  reversesDebits,
  transitionsDebits,
  readsLists,
  requestsApprovals,
  recordsAccesses,
)
