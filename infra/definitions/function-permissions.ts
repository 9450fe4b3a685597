import { type OperationName, operations } from '../../shared/api/operations.ts'
import {
  appendsToFeed,
  bankReports,
  buildsBatches,
  byStatus,
  caller,
  delivers,
  derivesLedger,
  expires,
  movesAndFails,
  paysBatches,
  reconciles,
  redelivers,
  requestsApprovals,
} from './permission-groups.ts'
import { allOf, type Permissions } from './permission-types.ts'

/**
 * What each function may do, as one row: the stack makes its role of it, the sandbox holds its
 * calls against it, and a run of the flow tests tells what of it nobody used. Nothing else is
 * allowed, so whatever a function comes to call is to be said here first.
 */

/** Of each function, beside what every operation needs of its caller. */
const rows = {
  charge: {
    items: {
      GetItem: ['DEBIT#*', 'RESTORE'],
      Query: ['BANKS'],
      PutItem: ['DEBIT#*', 'PROVIDER#*#*', 'UUID#*'],
      UpdateItem: ['PROVIDER#*'],
    },
  },
  'get-debit-request': { items: { GetItem: ['DEBIT#*'] } },
  'list-debit-requests': {
    items: { GetItem: ['DEBIT#*'], BatchGetItem: ['DEBIT#*'] },
    lists: { 'by-status': byStatus },
  },
  'list-banks': { items: { Query: ['BANKS'] } },
  'get-bank': { items: { Query: ['BANKS'] } },
  'lookup-customer-banks': { items: { Query: ['BANKS', 'CUSTOMER#*'] } },
  'list-deliveries': { items: { GetItem: ['DEBIT#*'], Query: ['DEBIT#*'] } },
  'redeliver-event': redelivers,
  'list-events': { items: { Query: ['FEED#*'], BatchGetItem: ['DEBIT#*', 'BATCH#*'] } },
  'test-webhook': { items: { PutItem: ['PROVIDER#*'] }, sealingKey: true },
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

  'answer-unmatched': { items: { UpdateItem: ['WINDOW#unmatched#*'] } },

  'manage-limit': {
    items: {
      GetItem: ['PROVIDER#*', 'BANKS'],
      BatchGetItem: ['PROVIDER#*'],
      Query: ['BANKS'],
      PutItem: ['CHANGES', 'PROVIDER#*', 'BANKS'],
    },
    lists: { 'by-status': ['PROVIDERS'] },
  },
  'manage-connector': allOf(requestsApprovals, {
    items: {
      GetItem: ['BANKS', 'BANK#*'],
      Query: ['BANKS'],
      PutItem: ['BANKS', 'BANK#*'],
      DeleteItem: ['BANK#*'],
    },
    sealingKey: true,
  }),
  'manage-provider': allOf(requestsApprovals, {
    items: {
      GetItem: ['PROVIDER#*', 'BANKS'],
      BatchGetItem: ['PROVIDER#*'],
      PutItem: ['PROVIDER#*'],
    },
    lists: { 'by-status': ['PROVIDERS'] },
    sealingKey: true,
  }),
  'manage-credential': {
    items: {
      GetItem: ['PROVIDER#*', 'BANKS', 'CREDENTIAL#*'],
      BatchGetItem: ['CREDENTIAL#*'],
      PutItem: ['CHANGES', 'CREDENTIAL#*'],
      UpdateItem: ['CREDENTIAL#*'],
    },
    lists: { 'by-status': ['CREDENTIALS#*'] },
  },
  'manage-bank': allOf(requestsApprovals, {
    items: {
      GetItem: ['BANKS', 'BANK#*'],
      Query: ['BANKS'],
      PutItem: ['BANKS', 'BANK#*'],
    },
    sealingKey: true,
  }),
  'manage-customer': {
    items: {
      GetItem: ['BANKS', 'CUSTOMER#*'],
      Query: ['CUSTOMER#*'],
      PutItem: ['CHANGES', 'CUSTOMER#*'],
      DeleteItem: ['CUSTOMER#*'],
    },
  },
  'manage-webhook': {
    items: {
      GetItem: ['PROVIDER#*'],
      PutItem: ['CHANGES', 'PROVIDER#*'],
      DeleteItem: ['PROVIDER#*'],
    },
    lists: { 'by-status': ['PROVIDERS'] },
    sealingKey: true,
  },
  'manage-delivery': allOf(redelivers, {
    items: { Query: ['DEBIT#*', 'FEED#*'], PutItem: ['CHANGES', 'PROVIDER#*'] },
    lists: { 'by-status': ['*#undelivered'] },
  }),
  'manage-debit': allOf(movesAndFails, appendsToFeed, requestsApprovals, {
    items: { GetItem: ['PROVIDER#*'], BatchGetItem: ['DEBIT#*'], PutItem: ['DEBIT#*'] },
    lists: { 'by-status': byStatus },
    sends: ['submissions'],
  }),
  'manage-exception': allOf(requestsApprovals, {
    items: {
      GetItem: ['DEBIT#*'],
      PutItem: ['DEBIT#*'],
      Query: ['DEBIT#*'],
      BatchGetItem: ['DEBIT#*'],
      UpdateItem: ['DEBIT#*'],
    },
    lists: { 'by-status': ['EXCEPTIONS#*'] },
  }),
  'manage-change': {
    items: { Query: ['CHANGES'], BatchGetItem: ['CHANGES'] },
    lists: { 'by-status': ['CHANGES#*'] },
  },
  'manage-approval': {
    items: {
      GetItem: ['APPROVALS'],
      Query: ['APPROVALS'],
      PutItem: ['CHANGES'],
      UpdateItem: ['APPROVALS'],
    },
    // Each function with a verb that needs an approval.
    invokes: [
      'manage-bank',
      'manage-connector',
      'manage-debit',
      'manage-exception',
      'manage-provider',
      'manage-settlement',
    ],
  },
  'manage-reconciliation': allOf(reconciles, { items: { GetItem: ['BANKS'] } }),
  'manage-ledger': allOf(derivesLedger, { journals: ['read', 'write'] }),
  'manage-funding': {
    items: {
      GetItem: ['BANKS', 'FUNDING'],
      BatchGetItem: ['BATCH#*'],
      Query: ['FUNDING'],
      PutItem: ['CHANGES', 'FUNDING'],
      UpdateItem: ['FUNDS'],
    },
    lists: { work: ['PAY'] },
    sends: ['payments'],
  },
  'manage-restore': {
    items: { GetItem: ['RESTORE', 'PROVIDER#*'], PutItem: ['CHANGES', 'RESTORE'] },
    lists: { 'by-status': ['PROVIDERS'] },
    reports: ['generation'],
  },
  'manage-settlement': allOf(buildsBatches, paysBatches, requestsApprovals, {
    lists: { 'by-status': ['PROVIDERS'], work: ['PAY'] },
    sends: ['settlements', 'payments'],
    reports: ['read', 'write'],
  }),

  relay: allOf(appendsToFeed, {
    items: { GetItem: ['PROVIDER#*'] },
    sends: [
      'submissions',
      'timeouts',
      'webhooks-high',
      'webhooks-medium',
      'webhooks-low',
      'webhooks-sidelined',
      'recoveries',
      'refunds',
      // Of a run that left the rest to another; of a payment no other is left anything.
      'settlements',
    ],
  }),
  'submit-to-bank': allOf(expires, {
    items: { GetItem: ['CUSTOMER#*'] },
    sends: ['sandbox-outcomes'],
  }),
  'report-sandbox-outcome': movesAndFails,
  'schedule-timeout': {
    items: { GetItem: ['DEBIT#*'] },
    sends: ['expiries'],
    schedulesInto: 'expiries',
  },
  'expire-debit': expires,
  'deliver-webhook': allOf(delivers, { sends: ['webhooks-sidelined'] }),
  'deliver-sidelined-webhook': delivers,
  'recover-deliveries': {
    items: { GetItem: ['PROVIDER#*', 'DEBIT#*'], PutItem: ['DEBIT#*', 'PROVIDER#*'] },
    lists: { 'by-status': ['*#undelivered'] },
  },
  'open-settlement': {
    items: { BatchGetItem: ['BATCH#*'] },
    lists: { 'by-status': ['PROVIDERS'], work: ['PAY'] },
    sends: ['settlements', 'payments'],
  },
  'build-batch': allOf(buildsBatches, { reports: ['write'] }),
  'process-batch': paysBatches,
  'refund-customer': {
    items: { GetItem: ['DEBIT#*', 'BANKS', 'BANK#*', 'RESTORE'], PutItem: ['DEBIT#*'] },
    sealingKey: true,
  },
  'reconcile-day': reconciles,
  sweep: allOf(expires, appendsToFeed, {
    items: {
      GetItem: ['PROVIDER#*', 'BATCH#*', 'BUILD#*', 'SWEEP'],
      BatchGetItem: ['DEBIT#*'],
      PutItem: ['SWEEP', 'DEBIT#*'],
      UpdateItem: ['BATCH#*', 'BUILD#*'],
    },
    lists: { 'by-status': ['PROVIDERS'], work: ['WATCH#*', 'SETTLE#*'] },
    sends: [
      'submissions',
      'webhooks-high',
      'webhooks-medium',
      'webhooks-low',
      'recoveries',
      'settlements',
      'payments',
      'refunds',
    ],
  }),
} as const satisfies Record<string, Permissions>

export type FunctionName = keyof typeof rows

export const permissionsOf = (name: FunctionName): Permissions =>
  name in operations ? allOf(caller(name as OperationName), rows[name]) : rows[name]
