import { type OperationName, operations } from '../../shared/api/operations.ts'
import {
  appendsToFeed,
  appliesBankReports,
  buildsBatches,
  byStatus,
  caller,
  deliversWebhooks,
  derivesLedger,
  expiresDebits,
  merge,
  type Permissions,
  paysBatches,
  reconciles,
  redeliversEvents,
  requestsApprovals,
  transitionsDebits,
} from './permission-groups.ts'

const webhookQueues = ['webhooks-high', 'webhooks-medium', 'webhooks-low'] as const

/**
 * Lists the permissions of each function; operations also get those of `caller`. The stack builds
 * roles from the rows, the sandbox checks calls against them, and the flow tests report unused ones.
 */
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
  'redeliver-event': redeliversEvents,
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
  'update-debit-transaction': appliesBankReports,
  'debit-callback': appliesBankReports,

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
  'manage-connector': merge(requestsApprovals, {
    items: {
      GetItem: ['BANKS', 'BANK#*'],
      Query: ['BANKS'],
      PutItem: ['BANKS', 'BANK#*'],
      DeleteItem: ['BANK#*'],
    },
    sealingKey: true,
  }),
  'manage-provider': merge(requestsApprovals, {
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
  'manage-bank': merge(requestsApprovals, {
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
  'manage-delivery': merge(redeliversEvents, {
    items: { Query: ['DEBIT#*', 'FEED#*'], PutItem: ['CHANGES', 'PROVIDER#*'] },
    lists: { 'by-status': ['*#undelivered'] },
  }),
  'manage-debit': merge(transitionsDebits, appendsToFeed, requestsApprovals, {
    items: { GetItem: ['PROVIDER#*'], BatchGetItem: ['DEBIT#*'], PutItem: ['DEBIT#*'] },
    lists: { 'by-status': byStatus },
    sends: ['submissions'],
  }),
  'manage-exception': merge(requestsApprovals, {
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
    // Functions with verbs that need an approval.
    invokes: [
      'manage-bank',
      'manage-connector',
      'manage-debit',
      'manage-exception',
      'manage-provider',
      'manage-settlement',
    ],
  },
  'manage-reconciliation': merge(reconciles, { items: { GetItem: ['BANKS'] } }),
  'manage-ledger': merge(derivesLedger, { journals: ['read', 'write'] }),
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
  'manage-settlement': merge(buildsBatches, paysBatches, requestsApprovals, {
    lists: { 'by-status': ['PROVIDERS'], work: ['PAY'] },
    sends: ['settlements', 'payments'],
    reports: ['read', 'write'],
  }),

  relay: merge(appendsToFeed, {
    items: { GetItem: ['PROVIDER#*'] },
    sends: [
      'submissions',
      'timeouts',
      ...webhookQueues,
      'webhooks-sidelined',
      'recoveries',
      'refunds',
      // Continues an unfinished settlement run; payment runs have no continuation.
      'settlements',
    ],
  }),
  'submit-to-bank': merge(expiresDebits, {
    items: { GetItem: ['CUSTOMER#*'] },
    sends: ['sandbox-outcomes'],
  }),
  'report-sandbox-outcome': transitionsDebits,
  'schedule-timeout': {
    items: { GetItem: ['DEBIT#*'] },
    sends: ['expiries'],
    schedulesInto: 'expiries',
  },
  'expire-debit': expiresDebits,
  'deliver-webhook': merge(deliversWebhooks, { sends: ['webhooks-sidelined'] }),
  'deliver-sidelined-webhook': deliversWebhooks,
  'recover-deliveries': {
    items: { GetItem: ['PROVIDER#*', 'DEBIT#*'], PutItem: ['DEBIT#*', 'PROVIDER#*'] },
    lists: { 'by-status': ['*#undelivered'] },
  },
  'open-settlement': {
    items: { BatchGetItem: ['BATCH#*'] },
    lists: { 'by-status': ['PROVIDERS'], work: ['PAY'] },
    sends: ['settlements', 'payments'],
  },
  'build-batch': merge(buildsBatches, { reports: ['write'] }),
  'process-batch': paysBatches,
  'refund-customer': {
    items: { GetItem: ['DEBIT#*', 'BANKS', 'BANK#*', 'RESTORE'], PutItem: ['DEBIT#*'] },
    sealingKey: true,
  },
  'reconcile-day': reconciles,
  sweep: merge(expiresDebits, appendsToFeed, {
    items: {
      GetItem: ['PROVIDER#*', 'BATCH#*', 'BUILD#*', 'SWEEP'],
      BatchGetItem: ['DEBIT#*'],
      PutItem: ['SWEEP', 'DEBIT#*'],
      UpdateItem: ['BATCH#*', 'BUILD#*'],
    },
    lists: { 'by-status': ['PROVIDERS'], work: ['WATCH#*', 'SETTLE#*'] },
    sends: ['submissions', ...webhookQueues, 'recoveries', 'settlements', 'payments', 'refunds'],
  }),
} as const satisfies Record<string, Permissions>

export type FunctionName = keyof typeof rows
export const functionNames = Object.keys(rows) as FunctionName[]

export const permissionsOf = (name: FunctionName): Permissions =>
  name in operations ? merge(caller(name as OperationName), rows[name]) : rows[name]
