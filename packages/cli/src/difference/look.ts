/** How lines are drawn. */
export interface Look {
  readonly columns: number;
  readonly unicode: boolean;
  colour(style: 'red' | 'green' | 'yellow' | 'bold' | 'dim', text: string): string;
}
