/** Returns the deployed name of a function in a stage. */
export const functionName = (name: string, stage: string): string =>
  `debit-collection-${stage}-${name}`
