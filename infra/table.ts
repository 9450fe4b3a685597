/** The one table as DynamoDB is told of it; what is kept in it is in docs/architecture.md. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'expiresAt',
} as const
