/** Defines the table's keys and indexes; docs/table.md lists its items. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'expiresAt',
  indexes: [
    // The ledger selects batches by their times without reading the items.
    {
      name: 'by-status',
      partitionKey: 'byStatus',
      sortKey: 'byTime',
      projected: ['sealedAt', 'completedAt', 'completedFrom'],
    },
    // A bank's list sums amounts without reading the debits. No projected attribute changes on success.
    {
      name: 'by-customer',
      partitionKey: 'byCustomer',
      sortKey: 'byTime',
      projected: ['byStatus', 'amount'],
    },
    { name: 'work', partitionKey: 'work', sortKey: 'due', projected: [] },
  ],
} as const

/** Attributes of all keys; their type is string. */
export const keyAttributes: string[] = [
  ...new Set(
    [tableDefinition, ...tableDefinition.indexes].flatMap(({ partitionKey, sortKey }) => [
      partitionKey,
      sortKey,
    ]),
  ),
]
