-- SPDX-License-Identifier: Apache-2.0
-- What the SQLite trace does: fill a table, index it, look up, change, join, delete. Every run does the same.
-- Recorded as sqlite.yaml says, when an experiment first needs it.
create table item(id integer primary key, name text, price integer, kind integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
insert into item select i, 'item ' || (i * 7919 % 20011), i * 104729 % 9973, i % 50 from n;
create table kind(id integer primary key, title text);
with recursive n(i) as (select 0 union all select i + 1 from n where i < 49)
insert into kind select i, 'kind ' || i from n;
create index item_name on item(name);
create index item_kind on item(kind, price);
select count(*), sum(price) from item where name between 'item 1' and 'item 5';
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
select sum(price) from n join item on item.name = 'item ' || (n.i * 13 % 20011);
select title, count(*), max(price) from item join kind on kind.id = item.kind group by title order by 3 desc limit 5;
update item set price = price + 1 where kind % 7 = 3;
delete from item where price % 11 = 0;
select count(*), sum(price), max(name) from item;
