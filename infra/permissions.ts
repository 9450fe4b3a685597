import { type OperationName, operations } from '../shared/api/operations.ts'
import type { FunctionName } from './functions.ts'
import { allOf, type Permissions } from './permission.ts'

/**
 * What each function may do, as one row: the stack makes its role of it, the sandbox holds its
 * calls against it, and a run of the flow tests tells what of it nobody used. Nothing else is
 * allowed, so whatever a function comes to call is to be said here first.
 */

/** Who calls, how often, and how often from one address in vain. Providers may sign their requests. */
const caller = (name: OperationName): Permissions => ({
  items: {
    GetItem: ['CREDENTIAL#*', 'PARTNER#*', 'BANKS'],
    UpdateItem: [`WINDOW#${name}#*`, 'WINDOW#address#*'],
  },
  ...(operations[name].caller === 'provider' ? { sealingKey: true } : {}),
})

const moves: Permissions = { items: { GetItem: ['DEBIT#*'], UpdateItem: ['DEBIT#*'] } }

/** One that fails gives its amount back to its day. */
const movesAndFails = allOf(moves, { items: { UpdateItem: ['PARTNER#*'] } })

const bankReports = allOf(movesAndFails, { items: { GetItem: ['UUID#*'], PutItem: ['DEBIT#*'] } })

/** Attempts at events of debits and batches, and the health of the webhook. */
const delivers: Permissions = {
  items: {
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    GetItem: ['DEBIT#*', 'PARTNER#*'],
    PutItem: ['DEBIT#*', 'PARTNER#*'],
  },
  sealingKey: true,
}

const redelivers: Permissions = {
  items: {
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    GetItem: ['DEBIT#*', 'PARTNER#*'],
    PutItem: ['DEBIT#*'],
  },
}

const appendsToFeed: Permissions = {
  items: { Query: ['FEED#*'], PutItem: ['FEED#*'], UpdateItem: ['FEED#*'] },
}

const buildsBatches: Permissions = {
  items: {
    GetItem: ['PARTNER#*', 'BATCH#*'],
    BatchGetItem: ['DEBIT#*', 'BATCH#*'],
    Query: ['BATCH#*'],
    PutItem: ['BATCH#*'],
    UpdateItem: ['DEBIT#*'],
    ConditionCheckItem: ['BATCH#*'],
  },
  lists: { 'by-status': ['*#settlements'], work: ['SETTLE#*'] },
}

const paysBatches: Permissions = {
  items: {
    GetItem: ['BATCH#*', 'PARTNER#*', 'BANKS', 'BANK#*'],
    BatchGetItem: ['BATCH#*'],
    PutItem: ['BATCH#*'],
  },
  lists: { work: ['BELOW_ZERO#*'] },
  sealingKey: true,
}

const byStatus = ['*#pending', '*#processing', '*#completed', '*#failed', '*#reversed']

const reconciles: Permissions = {
  items: {
    GetItem: ['PARTNER#*'],
    BatchGetItem: ['DEBIT#*', 'BATCH#*', 'UUID#*', 'PARTNER#*#*'],
    Query: ['FEED#*', 'BATCH#*'],
  },
  lists: {
    'by-status': [...byStatus, '*#settlements', 'PARTNERS', 'LATE_COMPLETIONS'],
    work: ['SETTLE#*'],
  },
}

/** Of each function, beside what every operation needs of its caller. */
const rows: Record<FunctionName, Permissions> = {
  charge: {
    items: {
      GetItem: ['DEBIT#*'],
      Query: ['BANKS'],
      PutItem: ['DEBIT#*', 'PARTNER#*#*', 'UUID#*'],
      UpdateItem: ['PARTNER#*'],
    },
  },
  'get-debit-request': { items: { GetItem: ['DEBIT#*'] } },
  'list-debit-requests': {
    items: { BatchGetItem: ['DEBIT#*'] },
    lists: { 'by-status': byStatus },
  },
  'list-banks': { items: { Query: ['BANKS'] } },
  'get-bank': { items: { Query: ['BANKS'] } },
  'lookup-customer-banks': { items: { Query: ['BANKS', 'CUSTOMER#*'] } },
  'list-deliveries': { items: { GetItem: ['DEBIT#*'], Query: ['DEBIT#*'] } },
  'redeliver-event': redelivers,
  'list-events': { items: { Query: ['FEED#*'], BatchGetItem: ['DEBIT#*', 'BATCH#*'] } },
  'test-webhook': { items: { PutItem: ['PARTNER#*'] }, sealingKey: true },
  'list-settlements': {
    items: { BatchGetItem: ['BATCH#*'] },
    lists: { 'by-status': ['*#settlements'] },
  },
  'get-settlement': { items: { GetItem: ['BATCH#*'] } },
  'get-settlement-report': { items: { GetItem: ['BATCH#*'] }, reports: ['read'] },

  'list-debit-transactions': {
    items: { GetItem: ['CUSTOMER#*'], BatchGetItem: ['DEBIT#*'], Query: ['BANKS'] },
    lists: { 'by-customer': ['*#+*'] },
  },
  'update-debit-transaction': bankReports,
  'debit-callback': bankReports,

  'answer-unmatched': {},

  'manage-limit': {
    items: { GetItem: ['PARTNER#*'], BatchGetItem: ['PARTNER#*'], PutItem: ['PARTNER#*'] },
    lists: { 'by-status': ['PARTNERS'] },
  },
  'manage-connector': {
    items: {
      GetItem: ['BANKS', 'BANK#*'],
      Query: ['BANKS'],
      PutItem: ['BANKS', 'BANK#*'],
      DeleteItem: ['BANK#*'],
    },
    sealingKey: true,
  },
  'manage-provider': {
    items: {
      GetItem: ['PARTNER#*', 'BANKS'],
      BatchGetItem: ['PARTNER#*'],
      PutItem: ['PARTNER#*'],
    },
    lists: { 'by-status': ['PARTNERS'] },
    sealingKey: true,
  },
  'manage-credential': {
    items: {
      GetItem: ['PARTNER#*', 'BANKS', 'CREDENTIAL#*'],
      BatchGetItem: ['CREDENTIAL#*'],
      PutItem: ['CREDENTIAL#*'],
      UpdateItem: ['CREDENTIAL#*'],
    },
    lists: { 'by-status': ['CREDENTIALS#*'] },
  },
  'manage-bank': {
    items: { GetItem: ['BANKS', 'BANK#*'], Query: ['BANKS'], PutItem: ['BANKS', 'BANK#*'] },
    sealingKey: true,
  },
  'manage-customer': {
    items: {
      GetItem: ['BANKS', 'CUSTOMER#*'],
      Query: ['CUSTOMER#*'],
      PutItem: ['CUSTOMER#*'],
      DeleteItem: ['CUSTOMER#*'],
    },
  },
  'manage-webhook': {
    items: { GetItem: ['PARTNER#*'], PutItem: ['PARTNER#*'], DeleteItem: ['PARTNER#*'] },
    lists: { 'by-status': ['PARTNERS'] },
    sealingKey: true,
  },
  'manage-delivery': allOf(redelivers, {
    items: { Query: ['DEBIT#*', 'FEED#*'], PutItem: ['PARTNER#*'] },
    lists: { 'by-status': ['*#undelivered'] },
  }),
  'manage-debit': allOf(moves, appendsToFeed, {
    items: { GetItem: ['PARTNER#*'], BatchGetItem: ['DEBIT#*'], PutItem: ['DEBIT#*'] },
    lists: { 'by-status': byStatus },
    sends: ['submissions'],
  }),
  'manage-exception': {
    items: { Query: ['DEBIT#*'], BatchGetItem: ['DEBIT#*'], UpdateItem: ['DEBIT#*'] },
    lists: { 'by-status': ['LATE_COMPLETIONS'] },
  },
  'manage-reconciliation': reconciles,
  'manage-settlement': allOf(buildsBatches, paysBatches, {
    lists: { 'by-status': ['PARTNERS'], work: ['PAY'] },
    sends: ['settlements', 'payments'],
    reports: ['read', 'write'],
  }),

  relay: allOf(appendsToFeed, {
    items: { GetItem: ['PARTNER#*'] },
    sends: [
      'submissions',
      'timeouts',
      'webhooks-high',
      'webhooks-medium',
      'webhooks-low',
      'webhooks-sidelined',
      'recoveries',
      // Of a run that left the rest to another; of a payment no other is left anything.
      'settlements',
    ],
  }),
  'submit-to-bank': allOf(movesAndFails, {
    items: { GetItem: ['BANKS', 'BANK#*', 'CUSTOMER#*'] },
    sends: ['sandbox-outcomes'],
    sealingKey: true,
  }),
  'report-sandbox-outcome': movesAndFails,
  'schedule-timeout': {
    items: { GetItem: ['DEBIT#*'] },
    sends: ['expiries'],
    schedulesInto: 'expiries',
  },
  'expire-debit': movesAndFails,
  'deliver-webhook': allOf(delivers, { sends: ['webhooks-sidelined'] }),
  'deliver-sidelined-webhook': delivers,
  'recover-deliveries': {
    items: { GetItem: ['PARTNER#*', 'DEBIT#*'], PutItem: ['DEBIT#*', 'PARTNER#*'] },
    lists: { 'by-status': ['*#undelivered'] },
  },
  'open-settlement': {
    items: { BatchGetItem: ['BATCH#*'] },
    lists: { 'by-status': ['PARTNERS'], work: ['PAY'] },
    sends: ['settlements', 'payments'],
  },
  'build-batch': allOf(buildsBatches, { reports: ['write'] }),
  'process-batch': paysBatches,
  'reconcile-day': reconciles,
  sweep: allOf(movesAndFails, appendsToFeed, {
    items: {
      GetItem: ['PARTNER#*', 'BATCH#*', 'SWEEP'],
      BatchGetItem: ['DEBIT#*'],
      PutItem: ['SWEEP', 'DEBIT#*'],
      UpdateItem: ['BATCH#*'],
    },
    lists: { 'by-status': ['PARTNERS'], work: ['WATCH#*', 'SETTLE#*'] },
    sends: [
      'submissions',
      'webhooks-high',
      'webhooks-medium',
      'webhooks-low',
      'recoveries',
      'settlements',
      'payments',
    ],
  }),
}

export const permissionsOf = (name: FunctionName): Permissions =>
  name in operations ? allOf(caller(name as OperationName), rows[name]) : rows[name]
