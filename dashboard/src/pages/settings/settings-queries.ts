import { read } from '../../api/queries.ts';

export const sessionsQuery = read('GET /account/sessions', {}, ['account']);
export const mailChoiceQuery = read('GET /account/mail', {}, ['account']);
export const teamQuery = read('GET /team', {}, ['team']);
export const businessQuery = read('GET /business', {}, ['organization']);
export const locationsQuery = read('GET /locations', {}, ['location', 'item']);
