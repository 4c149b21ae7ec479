import { Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Output } from '../../api/client.ts';
import { formatMoney, formatNumber } from '../../format.ts';
import { paths } from '../../paths.ts';
import { TextLink } from '../../ui/text-link.tsx';
import { stockValueQuery } from './home-queries.ts';

type Ages = Output<'GET /stock-value'>['ages'];

/** What the stock is worth at the dealer's own prices, and how long it has been there. */
export function StockValue() {
  const { data } = useQuery(stockValueQuery);
  if (data === undefined || data.ages.every(({ items }) => items === 0)) return null;
  const { ages, currency } = data;
  const [total, unpriced] = [sumOf(ages, 'amount'), sumOf(ages, 'unpriced')];
  return (
    <section aria-labelledby="stock-value">
      <Title order={2} size="h4" mb="xs" id="stock-value">
        Stock value and age
      </Title>
      <div className="plot-panel">
        <div className="plot-figure">
          {formatMoney(total, currency)}
          <span className="plot-note">
            at your prices
            {unpriced === 0 ? '' : `, without ${formatNumber(unpriced)} on request`}
          </span>
        </div>
        <table className="age-table">
          <thead>
            <tr>
              <th scope="col">In stock for</th>
              <th scope="col" className="age-number">
                Items
              </th>
              <th scope="col" className="age-number">
                Value
              </th>
              <td />
            </tr>
          </thead>
          <tbody>
            {ages.map(({ from_days: from, items, amount }, index) => (
              <tr key={from}>
                <th scope="row">{ageLabel(from, ages[index + 1]?.from_days)}</th>
                <td className="age-number">{formatNumber(items)}</td>
                <td className="age-number">{formatMoney(amount, currency)}</td>
                <td className="age-bar" aria-hidden="true">
                  <svg viewBox="0 0 100 8" preserveAspectRatio="none" focusable="false" aria-hidden="true">
                    <rect
                      className="plot-bar"
                      data-tone={index === ages.length - 1 ? 'brass' : 'steel'}
                      width={shareOf(amount, total)}
                      height="8"
                    />
                  </svg>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <TextLink to={paths.watches()} search={{ status: 'in_stock', sort: 'created' }}>
          Longest in stock first
        </TextLink>
      </div>
    </section>
  );
}

function ageLabel(from: number, next: number | undefined): string {
  if (next === undefined) return `over ${from - 1} days`;
  return from === 0 ? `up to ${next - 1} days` : `${from} to ${next - 1} days`;
}

function shareOf(amount: number, total: number): number {
  return total === 0 ? 0 : (amount / total) * 100;
}

function sumOf(ages: Ages, what: 'amount' | 'unpriced'): number {
  return ages.reduce((sum, age) => sum + age[what], 0);
}
